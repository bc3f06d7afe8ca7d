import type { ControllerOptions } from './controller-options.ts'
import { DEFAULT_LIMITS } from './domain/limits.ts'

/** What an option holds, as far as can be told before it is used. */
type Shape = 'boolean' | 'number' | 'string' | 'bytes' | 'compat'

/** What an option takes: a value of a shape, a function, or an object. */
interface OptionRule {
  readonly shape?: Shape
  /** Functions that the object has to have. */
  readonly functions?: readonly string[]
  /** Members that the object may have; any when absent. */
  readonly members?: readonly string[]
  readonly isFunction?: true
  readonly orFalse?: true
  readonly isNeeded?: true
  /** What fulfils it, for the message. */
  readonly hint?: string
}

const BOOLEAN: OptionRule = { shape: 'boolean' }
const NUMBER: OptionRule = { shape: 'number' }
const STRING: OptionRule = { shape: 'string' }

const RULES: Readonly<Record<keyof ControllerOptions, OptionRule>> = {
  storage: {
    functions: ['read', 'write', 'close'],
    isNeeded: true,
    hint: 'a storage, such as memoryStorage() of portcullis/memory or await sqliteStorage(file) of portcullis/kysely',
  },
  // Told by its own rule, of what it has to look like.
  address: STRING,
  compat: { shape: 'compat' },
  admin: { members: ['username', 'password'] },
  pki: {},
  trustDomain: STRING,
  apiSessionTimeoutMs: NUMBER,
  enrollmentDurationMs: NUMBER,
  secretsKey: { shape: 'bytes' },
  keySets: { functions: [] },
  totpIssuer: STRING,
  reportedVersion: STRING,
  presence: { functions: [] },
  authorize: { isFunction: true },
  rateLimits: { members: ['anonymous', 'identity', 'passwordsByAddress', 'passwordsByUsername'], orFalse: true },
  limits: { members: Object.keys(DEFAULT_LIMITS) },
  cors: { members: ['origins'] },
  oidc: {
    members: [
      'issuers',
      'ports',
      'accessTokenLifetimeMs',
      'idTokenLifetimeMs',
      'refreshTokenLifetimeMs',
      'redirectUris',
      'postLogoutUris',
    ],
    orFalse: true,
  },
  probes: BOOLEAN,
  apiPage: BOOLEAN,
  telemetry: { functions: ['record', 'observe', 'trace'], hint: 'openTelemetry() of portcullis/opentelemetry' },
  clock: { functions: ['now'] },
  scheduler: { functions: ['at'] },
  random: { functions: ['id', 'base32', 'uuid'] },
  passwordHasher: { functions: ['hash', 'verify', 'needsRehash'] },
  jsonSchema: { functions: ['problemOf', 'violationOf'] },
  logger: { functions: ['info', 'warn', 'error'] },
  allowTotpReuse: BOOLEAN,
  allowUnlimitedCodes: BOOLEAN,
  allowUnlimitedLogins: BOOLEAN,
  allowPrivateJwks: BOOLEAN,
  allowWeakPasswords: BOOLEAN,
  allowSelfDeletion: BOOLEAN,
  allowTokensOfOthers: BOOLEAN,
  keepSessionsOnPasswordChange: BOOLEAN,
  recoveryCodeLength: NUMBER,
  refreshTokenGraceMs: NUMBER,
}

/**
 * Refuses options that the compiler would have refused, for hosts that are written without one: an option that is missing,
 * that there is not, or that holds something else than it takes. Throws a `TypeError` that names the option.
 */
export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw new TypeError('createController takes an object with at least storage and address')
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(RULES, name)) throw new TypeError(`${name} is no option of createController${meant(name)}`)
  }
  for (const [name, rule] of Object.entries(RULES)) {
    const value = options[name]
    if (value === undefined) {
      if (rule.isNeeded) throw new TypeError(`${name} is needed: ${rule.hint}`)
      continue
    }
    const problem = problemOf(name, value, rule)
    if (problem !== undefined) throw new TypeError(problem)
  }
}

function problemOf(name: string, value: unknown, rule: OptionRule): string | undefined {
  if (rule.orFalse && value === false) return undefined
  if (rule.shape !== undefined) return shapeProblem(name, value, rule.shape)
  if (rule.isFunction) return typeof value === 'function' ? undefined : `${name} takes a function, not ${told(value)}`
  if (!isObject(value)) return `${name} takes ${rule.hint ?? 'an object'}, not ${told(value)}`
  const lacking = rule.functions?.find((method) => typeof value[method] !== 'function')
  if (lacking !== undefined)
    return `${name} takes ${rule.hint ?? 'an object with functions'}: ${name}.${lacking} is missing`
  const unknown = Object.keys(value).find((member) => rule.members?.includes(member) === false)
  return unknown === undefined ? undefined : `${name}.${unknown} is not there: ${name} has ${rule.members?.join(', ')}`
}

function shapeProblem(name: string, value: unknown, shape: Shape): string | undefined {
  if (shape === 'compat') return value === 'openziti' ? undefined : `${name} takes 'openziti', not ${told(value)}`
  if (shape === 'bytes') {
    return value instanceof Uint8Array ? undefined : `${name} takes a Uint8Array of 32 bytes, not ${typeof value}`
  }
  return typeof value === shape ? undefined : `${name} takes a ${shape}, not ${told(value)}`
}

/** A value in a message: a text that may be a secret is only told by its kind. */
function told(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value)
  return typeof value === 'string' && value.length <= 40 ? `'${value}'` : typeof value
}

/** The option that somebody meant who wrote something near it. */
function meant(name: string): string {
  const plain = name.toLowerCase()
  const near = Object.keys(RULES).find((option) => distance(option.toLowerCase(), plain) <= 2)
  return near === undefined ? '' : `; ${near} is one`
}

/** How many letters have to be put in, left out or replaced to make one text of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (const [column, wanted] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
