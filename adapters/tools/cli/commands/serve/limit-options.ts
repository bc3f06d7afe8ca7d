import { isIP } from 'node:net'
import { DAY_MS } from '../../../../../src/base/time.ts'
import type {
  AuditOptions,
  CorsOptions,
  OpenIdOptions,
  RateLimitOptions,
  WebhookOptions,
} from '../../../../../src/index.ts'
import type { PkiFiles, ServeOptions } from '../../../../web/node/index.ts'
import type { GivenOptions } from '../../command-line/options.ts'
import { type Setting, UsageError } from '../../command-line/usage.ts'
import { readTokenLifetimes } from './worker-options.ts'

/** Limits by the name that each has on the command line. */
const LIMITED = {
  connections: 'maxConnections',
  'connections-per-address': 'maxConnectionsPerAddress',
  'arriving-bytes': 'maxArrivingBytes',
  'unsent-bytes': 'maxUnsentBytes',
  'unsent-bytes-per-address': 'maxUnsentBytesPerAddress',
} as const satisfies Record<string, keyof ServeOptions>

/** Limits of the cost of connections, where they are not the defaults. */
export type ConnectionLimits = { -readonly [Name in (typeof LIMITED)[keyof typeof LIMITED]]?: number }

/**
 * The limits in a setting, a list such as `connections=20000,connections-per-address=20000`; other limits keep their defaults. Throws
 * {@link UsageError}.
 */
export function readLimits(setting: Setting | undefined): ConnectionLimits {
  const limits: ConnectionLimits = {}
  for (const part of setting?.value.split(',') ?? []) {
    const [, name = '', count] = /^\s*([a-z-]+)=([1-9]\d{0,11})\s*$/.exec(part) ?? []
    if (!isLimited(name)) {
      const names = Object.keys(LIMITED).join(', ')
      throw new UsageError(
        `${setting?.name} takes NAME=COUNT with commas between them, NAME being one of ${names}: not '${part}'`,
      )
    }
    limits[LIMITED[name]] = Number(count)
  }
  return limits
}

function isLimited(name: string): name is keyof typeof LIMITED {
  return Object.hasOwn(LIMITED, name)
}

/** How much the audit trail keeps, by the name that each number has on the command line, and by how much it is multiplied. */
const AUDITED = {
  'keep-days': ['keepMs', DAY_MS],
  bytes: ['mostBytes', 1],
  'stranger-bytes-per-hour': ['strangerBytesPerHour', 1],
  'endpoint-bytes-per-hour': ['endpointBytesPerHour', 1],
  'use-bytes-per-hour': ['useBytesPerHour', 1],
} as const satisfies Record<string, readonly [keyof AuditOptions, number]>

/**
 * The numbers in a setting, a list such as `keep-days=90,bytes=4294967296`; other numbers keep their defaults. Throws {@link UsageError}.
 */
export function readAuditOptions(setting: Setting | undefined): AuditOptions {
  const audit: Writable<AuditOptions> = {}
  for (const part of setting?.value.split(',') ?? []) {
    const [, name = '', count] = /^\s*([a-z-]+)=(\d{1,15})\s*$/.exec(part) ?? []
    if (!isAudited(name)) {
      const names = Object.keys(AUDITED).join(', ')
      throw new UsageError(
        `${setting?.name} takes NAME=NUMBER with commas between them, NAME being one of ${names}: not '${part}'`,
      )
    }
    const [option, unit] = AUDITED[name]
    audit[option] = Number(count) * unit
  }
  return audit
}

function isAudited(name: string): name is keyof typeof AUDITED {
  return Object.hasOwn(AUDITED, name)
}

/** Limits by the name that each has on the command line. */
const RATE_LIMITED = {
  anonymous: 'anonymous',
  identity: 'identity',
  'passwords-by-address': 'passwordsByAddress',
  'passwords-by-username': 'passwordsByUsername',
} as const satisfies Record<string, keyof RateLimitOptions>

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * The rate limits in a setting: `off`, or a list such as `anonymous=1000/60,identity=off`, each a number of requests in a number of
 * seconds; other rate limits keep their defaults. Throws {@link UsageError}.
 */
export function readRateLimits(setting: Setting | undefined): RateLimitOptions | false {
  if (setting === undefined) return {}
  if (setting.value === 'off') return false
  const limits: Writable<RateLimitOptions> = {}
  for (const part of setting.value.split(',')) {
    const [, name = '', rate = ''] = /^\s*([a-z-]+)=(off|[1-9]\d{0,8}\/[1-9]\d{0,5})\s*$/.exec(part) ?? []
    if (!isRateLimited(name)) {
      const names = Object.keys(RATE_LIMITED).join(', ')
      throw new UsageError(
        `${setting.name} takes off, or NAME=COUNT/SECONDS or NAME=off with commas between them, ` +
          `NAME being one of ${names}: not '${part}'`,
      )
    }
    const [limit, seconds] = rate.split('/').map(Number)
    limits[RATE_LIMITED[name]] =
      limit === undefined || seconds === undefined ? false : { limit, windowMs: seconds * 1000 }
  }
  return limits
}

function isRateLimited(name: string): name is keyof typeof RATE_LIMITED {
  return Object.hasOwn(RATE_LIMITED, name)
}

/** The origins in settings, exactly as browsers send them. Throws {@link UsageError} for an invalid origin, such as `*`. */
export function readCors(settings: readonly Setting[]): CorsOptions {
  for (const { name, value } of settings) {
    const isOrigin = /^https?:\/\/[^*]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value
    if (isOrigin) continue
    throw new UsageError(`${name} takes an origin such as https://console.example, without a path: not '${value}'`)
  }
  return { origins: settings.map(({ value }) => value) }
}

/** The addresses and subnets that webhooks may lead to. Throws {@link UsageError} for other text. */
export function readWebhooks(settings: readonly Setting[]): WebhookOptions {
  for (const { name, value } of settings) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(value) ?? []
    const family = isIP(address)
    if (family !== 0 && (bits === undefined || Number(bits) <= (family === 6 ? 128 : 32))) continue
    throw new UsageError(`${name} takes an address or a subnet such as 10.1.0.0/16: not '${value}'`)
  }
  return settings.length === 0 ? {} : { allow: settings.map(({ value }) => value) }
}

/** Further settings of the provider. */
interface ProviderSettings {
  readonly redirectUris: readonly Setting[]
  readonly postLogoutUris: readonly Setting[]
  readonly lifetimes: Setting | undefined
}

/**
 * `off`, or the issuers with commas between, which follow from the addresses by default; where clients are sent, and how long
 * tokens are good. Throws {@link UsageError}, also for settings of a provider that is off.
 */
export function readOpenId(setting: Setting | undefined, besides: ProviderSettings): OpenIdOptions | false {
  const { redirectUris, postLogoutUris, lifetimes } = besides
  if (setting?.value === 'off') {
    const [idle] = [...redirectUris, ...postLogoutUris, ...(lifetimes === undefined ? [] : [lifetimes])]
    if (idle !== undefined) throw new UsageError(`${idle.name} has no meaning with ${setting.name} off`)
    return false
  }
  return {
    ...readIssuers(setting),
    ...(redirectUris.length > 0 && { redirectUris: redirectUris.map(readUri) }),
    ...(postLogoutUris.length > 0 && { postLogoutUris: postLogoutUris.map(readUri) }),
    ...readTokenLifetimes(lifetimes),
  }
}

function readIssuers(setting: Setting | undefined): Pick<OpenIdOptions, 'issuers'> {
  if (setting === undefined) return {}
  const issuers = setting.value.split(',').map((issuer) => issuer.trim())
  const wrong = issuers.find((issuer) => !/^https:\/\/[^/]+\/oidc$/.test(issuer) || !URL.canParse(issuer))
  if (wrong === undefined) return { issuers }
  throw new UsageError(`${setting.name} takes off, or issuers such as https://ctrl.example:1280/oidc: not '${wrong}'`)
}

/** Refuses a text that is no URI at once; the controller judges the rest. */
function readUri({ name, value }: Setting): string {
  const written = value.replace(/^(https?:\/\/[^/]*):\*(?=\/|$)/, '$1:1')
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value) && URL.canParse(written)) return value
  throw new UsageError(`${name} takes a URI such as https://console.example/auth/callback: not '${value}'`)
}

/** Where the certificates and keys come from. */
export type PkiSource =
  | { readonly kind: 'directory'; readonly directory: string }
  | { readonly kind: 'files'; readonly files: PkiFiles }

const DEFAULT_DIRECTORY = '.portcullis/pki'

const FILE_OPTIONS = ['server-cert', 'server-key', 'ca', 'signing-cert', 'signing-key'] as const

type PkiOption = 'pki' | (typeof FILE_OPTIONS)[number]

/**
 * The files that the options name, else the directory. Throws {@link UsageError} when some but not all files are named, or a directory too.
 */
export function readPkiSource({ typed, value }: Pick<GivenOptions<PkiOption>, 'typed' | 'value'>): PkiSource {
  const [first] = FILE_OPTIONS.filter((option) => typed(option) !== undefined)
  if (first === undefined) return { kind: 'directory', directory: value('pki') ?? DEFAULT_DIRECTORY }
  // A directory in the environment is only a default.
  if (typed('pki') !== undefined) throw new UsageError(`--pki and --${first} exclude each other`)
  const missing = FILE_OPTIONS.filter((option) => typed(option) === undefined)
  const file = (option: (typeof FILE_OPTIONS)[number]): string => {
    const path = typed(option)
    if (path === undefined) throw new UsageError(`--${first} needs --${missing.join(', --')} too`)
    return path
  }
  return {
    kind: 'files',
    files: {
      caPem: file('ca'),
      signingCertPem: file('signing-cert'),
      signingKeyPem: file('signing-key'),
      serverCertPem: file('server-cert'),
      serverKeyPem: file('server-key'),
    },
  }
}
