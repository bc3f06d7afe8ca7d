import { type Controller, type Logger, type PasswordHasher, type Random, SYSTEM_CALL } from '../../../src/index.ts'
import type { NetworkModel } from '../model/index.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/**
 * Makes ids and UUIDs that are the same in every run with the same seed, and different from each other.
 *
 * @example
 * const random = seededRandom(7)
 * random.id() === seededRandom(7).id() // true
 */
export function seededRandom(seed = 1): Random {
  let count = seed * 1_000_000
  return {
    id: () => (count++).toString(36).padStart(10, '0'),
    base32: (length) => {
      const digits = [...(count++).toString(32).padStart(length, '0')]
      return digits.map((digit) => BASE32.charAt(Number.parseInt(digit, 32))).join('')
    },
    uuid: () => `00000000-0000-4000-8000-${(count++).toString(16).padStart(12, '0')}`,
  }
}

/** Hashes nothing: for tests that log in often. Never use it where passwords are real. */
export const plainPasswordHasher: PasswordHasher = {
  hash: async (password) => `plain:${password}`,
  verify: async (password, verifier) => verifier === `plain:${password}`,
  needsRehash: (verifier) => !verifier.startsWith('plain:'),
}

/** One entry of a {@link recordingLogger}. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, string | number | boolean | undefined>> | undefined
}

/**
 * Keeps all log entries.
 *
 * @example
 * const logger = recordingLogger()
 * await createController({ storage, address: 'localhost:1280', logger })
 * console.log(logger.entries)
 */
export function recordingLogger(): Logger & { readonly entries: readonly LogEntry[] } {
  const entries: LogEntry[] = []
  const record = (level: LogEntry['level']): Logger['info'] => {
    return (message, fields) => void entries.push({ level, message, fields })
  }
  return { entries, info: record('info'), warn: record('warn'), error: record('error') }
}

/** Everybody may use this router for everything: a test is seldom about routers, and a session needs one. */
const ROUTER_FOR_ALL: NetworkModel = {
  edgeRouters: [{ name: 'router' }],
  edgeRouterPolicies: [{ name: 'all', semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] }],
  serviceEdgeRouterPolicies: [{ name: 'all', semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#all'] }],
}

/** Adds a router that serves everybody to a network without edge routers, so that sessions can be opened. */
export async function giveRouter({ engine, apply }: Pick<Controller, 'apply' | 'engine'>): Promise<void> {
  const { totalCount } = await engine.edgeRouters.list(SYSTEM_CALL, { limit: 1 })
  if (totalCount === 0) await apply(ROUTER_FOR_ALL)
}
