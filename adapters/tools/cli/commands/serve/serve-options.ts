import type {
  AuditOptions,
  Compat,
  ControllerOptions,
  CorsOptions,
  OpenIdOptions,
  RateLimitOptions,
  WebhookOptions,
} from '../../../../../src/index.ts'
import { type Address, formatAddress, isWildcardHost } from '../../../../web/node/index.ts'
import { type Environment, type Setting, UsageError } from '../../command-line/usage.ts'
import { readAddress } from '../../input/address.ts'
import { type AdminCredentials, adminCredentials } from '../../input/admin-credentials.ts'
import { DEFAULT_STORAGE, readTables, type TableOptions } from '../../input/open-storage.ts'
import { type EventTarget, readEventsSize, readEventTarget } from './event-writer.ts'
import {
  type ConnectionLimits,
  type PkiSource,
  readAuditOptions,
  readCors,
  readLimits,
  readOpenId,
  readPkiSource,
  readRateLimits,
  readWebhooks,
} from './limit-options.ts'
import type { ServeArguments } from './option-declarations.ts'
import { type GatewayPlace, readGateway } from './serve-gateway.ts'
import { type Durations, type RouterPlace, readDurations, readWorkers, requireWorkable } from './worker-options.ts'

/** How `portcullis serve` was asked to run. */
export interface ServeOptions {
  readonly listen: Address
  /** Undefined when it is the address that is listened on, with the port that it gets. */
  readonly advertise: Address | undefined
  /** Where routers connect; the port of the APIs unless it is given. */
  readonly controlListen: Address | undefined
  /** Undefined when it is the address that routers connect to. */
  readonly controlAdvertise: Address | undefined
  /** Where routers connect to the other workers, and to other controllers over the same storage. */
  readonly controlOthers: readonly Address[]
  /** The edge router of the process; undefined unless the options ask for it. */
  readonly router: RouterPlace | undefined
  /** The door for browsers; undefined unless the options ask for it. */
  readonly gateway: GatewayPlace | undefined
  readonly storage: Setting
  readonly tables: TableOptions
  /** A folder of copies of the storage, whose latest is looked at. */
  readonly backups: string | undefined
  readonly pki: PkiSource
  /** Files of a second server certificate and its key, for clients that ask for one of its names. */
  readonly named: { readonly cert: string; readonly key: string } | undefined
  readonly trustDomain: string | undefined
  readonly durations: Durations
  readonly compat: Compat | undefined
  readonly directE2EE: ControllerOptions['directE2EE']
  /** Refuses members of bodies that no operation knows; undefined unless the options ask for it. */
  readonly refuseUnknownMembers: true | undefined
  readonly rateLimits: RateLimitOptions | false
  /** How much the audit trail keeps, where it is not the default. */
  readonly audit: AuditOptions
  readonly limits: ConnectionLimits
  readonly cors: CorsOptions
  readonly oidc: OpenIdOptions | false
  readonly webhooks: WebhookOptions
  readonly admin: AdminCredentials | undefined
  /** The number of processes behind the port. */
  readonly workers: number
  /** False for a worker that has no port for routers. */
  readonly servesRouters: boolean
  /** Where events are written. */
  readonly events: readonly EventTarget[]
  /** Answers health and metrics too; undefined unless the options ask for it. */
  readonly probes: true | undefined
  /** Answers the access explorer too. */
  readonly explorer: boolean
  /** Answers the API reference too; undefined unless the options ask for it. */
  readonly docs: true | undefined
}

/** Reads the options and the environment; an option wins over its variable. Throws {@link UsageError}. */
export function readServeOptions(options: ServeArguments, environment: Environment): ServeOptions {
  const { setting } = options
  const storage = setting('storage') ?? { name: '--storage', value: DEFAULT_STORAGE }
  const listen = readAddress(setting('listen') ?? { name: '--listen', value: '127.0.0.1:1280' }, 0)
  const advertise = readAdvertise(setting('advertise'), listen)
  const control = setting('control-listen')
  const controlListen = control && readAddress(control, 0)
  const read: ServeOptions = {
    listen,
    advertise,
    controlListen,
    controlAdvertise:
      readControlAdvertise(setting('control-advertise'), controlListen) ?? (control ? undefined : advertise),
    storage,
    tables: readTables(storage.value, { prefix: setting('table-prefix'), schema: setting('schema') }),
    backups: setting('backups')?.value,
    pki: readPkiSource(options),
    named: readNamed(setting('named-cert'), setting('named-key')),
    durations: readDurations({
      sessionTimeout: setting('session-timeout'),
      enrollment: setting('enrollment-duration'),
      routerEnrollment: setting('router-enrollment-duration'),
    }),
    trustDomain: readTrustDomain(setting('trust-domain')),
    compat: readCompat(setting('compat')),
    directE2EE: readDirectE2EE(setting('direct-e2ee')),
    refuseUnknownMembers: options.flag('refuse-unknown-members') || undefined,
    rateLimits: readRateLimits(setting('rate-limits')),
    audit: readAuditOptions(setting('audit')),
    limits: readLimits(setting('limits')),
    cors: readCors(options.settings('cors-origin')),
    oidc: readOpenId(setting('oidc'), {
      redirectUris: options.settings('redirect-uri'),
      postLogoutUris: options.settings('post-logout-uri'),
      lifetimes: setting('token-lifetimes'),
    }),
    webhooks: readWebhooks(options.settings('webhook-allow')),
    admin: adminCredentials(environment),
    events: readEvents(options),
    probes: options.flag('probes') || undefined,
    explorer: options.flag('explorer'),
    docs: options.flag('docs') || undefined,
    workers: readWorkers(setting('workers')),
    servesRouters: true,
    router: readRouter(options, advertise),
    gateway: readGateway(options, {
      hasRouter: options.flag('router'),
      hasOpenId: setting('oidc')?.value !== 'off',
      workers: readWorkers(setting('workers')),
    }),
    controlOthers: options.settings('control-others').map((other) => readAddress(other, 1)),
  }
  requireWorkable(read)
  return read
}

function readEvents({ setting, settings }: ServeArguments): readonly EventTarget[] {
  const mostBytes = readEventsSize(setting('events-size'))
  return settings('events').map((target) => readEventTarget(target, mostBytes))
}

function readAdvertise(advertised: Setting | undefined, listen: Address): Address | undefined {
  const advertise = advertised && readAddress(advertised, 1)
  if (!isWildcardHost((advertise ?? listen).host)) return advertise
  throw new UsageError(
    advertised === undefined
      ? `--advertise HOST:PORT is needed: ${formatAddress(listen)} stands for every interface, clients need one address`
      : `${advertised.name} takes an address that clients can connect to, not '${advertised.value}'`,
  )
}

function readControlAdvertise(advertised: Setting | undefined, listen: Address | undefined): Address | undefined {
  return readReached(advertised, listen, {
    listen: '--control-listen',
    advertise: '--control-advertise',
    who: 'routers',
  })
}

/** The address by which peers reach a separate port; undefined when no other address than the listening address is advertised. */
function readReached(
  advertised: Setting | undefined,
  listen: Address | undefined,
  option: { readonly listen: string; readonly advertise: string; readonly who: string },
): Address | undefined {
  const advertise = advertised && readAddress(advertised, 1)
  const reached = advertise ?? listen
  if (reached === undefined || !isWildcardHost(reached.host)) return advertise
  const name = advertised?.name ?? option.listen
  throw new UsageError(
    `${name} stands for every interface; ${option.who} need one address: ${option.advertise} HOST:PORT`,
  )
}

function readRouter({ flag, setting }: ServeArguments, apis: Address | undefined): RouterPlace | undefined {
  const name = setting('router-name')
  const [listens, advertised] = [setting('router-listen'), setting('router-advertise')]
  if (flag('router')) {
    const listen = listens && readAddress(listens, 0)
    const option = { listen: '--router-listen', advertise: '--router-advertise', who: 'SDKs' }
    const advertise = readReached(advertised, listen, option) ?? (listen ? undefined : apis)
    return { name: name?.value ?? 'portcullis', listen, advertise }
  }
  const needless = name ?? listens ?? advertised
  if (needless !== undefined)
    throw new UsageError(`${needless.name} is about the edge router of --router, which was not asked for`)
  return undefined
}

function readTrustDomain(setting: Setting | undefined): string | undefined {
  if (setting === undefined || /^[a-z0-9._-]{1,255}$/.test(setting.value)) return setting?.value
  const allowed = 'lower-case letters, digits, dots, hyphens and underscores'
  throw new UsageError(`${setting.name} takes ${allowed}, at most 255: not '${setting.value}'`)
}

function readNamed(cert: Setting | undefined, key: Setting | undefined): ServeOptions['named'] {
  if (cert !== undefined && key !== undefined) return { cert: cert.value, key: key.value }
  if (cert === undefined && key === undefined) return undefined
  throw new UsageError(cert === undefined ? '--named-key needs --named-cert too' : '--named-cert needs --named-key too')
}

function readDirectE2EE(setting: Setting | undefined): ControllerOptions['directE2EE'] {
  if (setting === undefined) return undefined
  if (setting.value === 'permissive' || setting.value === 'directOnly') return setting.value
  throw new UsageError(`${setting.name} takes permissive or directOnly, not '${setting.value}'`)
}

function readCompat(setting: Setting | undefined): Compat | undefined {
  if (setting === undefined || setting.value === 'openziti') return setting && 'openziti'
  throw new UsageError(`${setting.name} takes openziti, not '${setting.value}'`)
}
