import { availableParallelism } from 'node:os'
import { DAY_MS, SECOND_MS } from '../../../../../src/base/time.ts'
import type { ControllerOptions, OpenIdOptions } from '../../../../../src/index.ts'
import type { Address } from '../../../../web/node/index.ts'
import { type Setting, UsageError } from '../../command-line/usage.ts'
import { readDuration } from '../../input/durations.ts'

/** The options that processes share, and the options that differ by process. */
interface SharedOptions {
  readonly workers: number
  readonly storage: Setting
  readonly listen: Address
  readonly controlListen: Address | undefined
  readonly router: RouterPlace | undefined
}

/** The edge router of a process: its name, and where SDKs reach it. */
export interface RouterPlace {
  readonly name: string
  /** Undefined when it is the port of the APIs. */
  readonly listen: Address | undefined
  /** Undefined when it is the address that is listened on. */
  readonly advertise: Address | undefined
}

/** Where routers are met. */
interface RouterPorts {
  readonly workers: number
  readonly servesRouters: boolean
  readonly controlListen: Address | undefined
  readonly controlAdvertise: Address | undefined
  readonly controlOthers: readonly Address[]
  readonly router: RouterPlace | undefined
}

const MOST = 256
const LAST_PORT = 65_535

/** How many processes are to answer: 1 unless asked for, `auto` as many as there are cores. Throws {@link UsageError}. */
export function readWorkers(setting: Setting | undefined): number {
  if (setting === undefined) return 1
  if (setting.value === 'auto') return availableParallelism()
  const count = Number(setting.value)
  if (/^\d{1,3}$/.test(setting.value) && count >= 1 && count <= MOST) return count
  throw new UsageError(`${setting.name} takes auto, or a number from 1 to ${MOST}, not '${setting.value}'`)
}

/** Refuses options that several processes cannot serve. Throws {@link UsageError}. */
export function requireWorkable({ workers, storage, listen, controlListen, router }: SharedOptions): void {
  if (workers === 1) return
  if (storage.value === 'memory') {
    throw new UsageError(
      `--workers needs a storage that processes share, which memory is not: ${storage.name} sqlite:FILE or postgres://…`,
    )
  }
  if (router !== undefined && (controlListen?.port ?? 0) === 0) {
    throw new UsageError(
      '--router with --workers needs --control-listen HOST:PORT, by which the workers reach each other',
    )
  }
  if (router !== undefined && (router.listen?.port ?? 0) === 0) {
    throw new UsageError(
      '--router with --workers needs --router-listen HOST:PORT: at a shared port SDKs reach any of them',
    )
  }
  const controlPorts = requireFree('--control-listen', controlListen, workers, [listen.port])
  requireFree('--router-listen', router?.listen, workers, [listen.port, ...controlPorts])
}

/** The ports of the workers from a first port on; empty where the system chooses them. Throws if one of them is taken. */
function requireFree(
  option: string,
  first: Address | undefined,
  workers: number,
  taken: readonly number[],
): readonly number[] {
  if (first === undefined || first.port === 0) return []
  const ports = Array.from({ length: workers }, (_, index) => first.port + index)
  const last = first.port + workers - 1
  if (last <= LAST_PORT && !ports.some((port) => taken.includes(port))) return ports
  throw new UsageError(
    `${option} with --workers ${workers} takes the ports ${first.port} to ${last}, which have to be free`,
  )
}

/**
 * The options of one worker of several. A router holds a channel to each process that is to lay circuits over it, so each worker has a port
 * of its own for routers: the port of `--control-listen` or one of the following ports. It announces the others to routers. Without
 * `--control-listen` routers are not served, because a connection to the shared port reaches any worker. The edge router of each worker has
 * a name and a port of its own as well.
 */
export function optionsOfWorker<Options extends RouterPorts>(options: Options, index: number): Options {
  const { workers, controlListen, controlAdvertise, controlOthers, router } = options
  const own = {
    controlListen: controlListen && shifted(controlListen, index),
    controlAdvertise,
    controlOthers,
    router: router && routerOfWorker(router, index),
  }
  // Other workers do not know a port that the system chooses.
  if (controlListen === undefined || controlListen.port === 0) {
    return { ...options, ...own, servesRouters: controlListen !== undefined }
  }
  const first = controlAdvertise ?? controlListen
  const advertised = Array.from({ length: workers }, (_, worker) => shifted(first, worker))
  return {
    ...options,
    ...own,
    servesRouters: true,
    controlAdvertise: advertised[index],
    controlOthers: [...advertised.filter((_, worker) => worker !== index), ...controlOthers],
  }
}

function routerOfWorker({ name, listen, advertise }: RouterPlace, index: number): RouterPlace {
  return {
    name: index === 0 ? name : `${name}-${index + 1}`,
    listen: listen && shifted(listen, index),
    advertise: advertise && shifted(advertise, index),
  }
}

function shifted(address: Address, by: number): Address {
  return address.port === 0 ? address : { ...address, port: address.port + by }
}

/** How long things last that the controller makes, where it is not the default. */
export type Durations = Pick<
  ControllerOptions,
  'apiSessionTimeoutMs' | 'enrollmentDurationMs' | 'routerEnrollmentDurationMs'
>

/** How long tokens are good, where it is not the default. */
export type TokenLifetimes = Pick<
  OpenIdOptions,
  'accessTokenLifetimeMs' | 'idTokenLifetimeMs' | 'refreshTokenLifetimeMs'
>

/** The lifetimes of tokens, by the names that they have on the command line. */
const TOKENS = {
  access: 'accessTokenLifetimeMs',
  id: 'idTokenLifetimeMs',
  refresh: 'refreshTokenLifetimeMs',
} as const satisfies Record<string, keyof TokenLifetimes>

/** The durations in settings, such as `90s`, `30m`, `3h` or `7d`. Throws {@link UsageError}. */
export function readDurations(settings: {
  readonly sessionTimeout: Setting | undefined
  readonly enrollment: Setting | undefined
  readonly routerEnrollment: Setting | undefined
}): Durations {
  const { sessionTimeout, enrollment, routerEnrollment } = settings
  return {
    ...(sessionTimeout && { apiSessionTimeoutMs: readDuration(sessionTimeout) }),
    ...(enrollment && { enrollmentDurationMs: readDuration(enrollment) }),
    ...(routerEnrollment && { routerEnrollmentDurationMs: readDuration(routerEnrollment) }),
  }
}

/**
 * The lifetimes in a setting, a list such as `access=15m,refresh=7d`; other lifetimes keep their defaults. Throws {@link UsageError}, also
 * where a refresh token would not outlive an access token by a minute.
 */
export function readTokenLifetimes(setting: Setting | undefined): TokenLifetimes {
  if (setting === undefined) return {}
  const lifetimes: { -readonly [Name in keyof TokenLifetimes]: number } = {}
  for (const part of setting.value.split(',')) {
    const [, name = '', value = ''] = /^\s*([a-z]+)=(\S+)\s*$/.exec(part) ?? []
    if (!isToken(name)) {
      const names = Object.keys(TOKENS).join(', ')
      throw new UsageError(
        `${setting.name} takes NAME=DURATION with commas between them, NAME being one of ${names}: not '${part}'`,
      )
    }
    lifetimes[TOKENS[name]] = readDuration({ name: setting.name, value })
  }
  const { accessTokenLifetimeMs = 30 * 60 * SECOND_MS, refreshTokenLifetimeMs = DAY_MS } = lifetimes
  if (refreshTokenLifetimeMs >= accessTokenLifetimeMs + 60 * SECOND_MS) return lifetimes
  throw new UsageError(`${setting.name}: a refresh token has to be good for a minute longer than an access token`)
}

function isToken(name: string): name is keyof typeof TOKENS {
  return Object.hasOwn(TOKENS, name)
}
