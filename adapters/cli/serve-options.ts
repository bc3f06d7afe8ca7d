import { parseArgs } from 'node:util'
import { type Address, isWildcardHost, parseAddress } from '../node/index.ts'
import { messageOf, UsageError } from './usage-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Certificates and keys in files of the host's own. */
export interface CertificateFiles {
  readonly serverCert: string
  readonly serverKey: string
  readonly ca: string
  readonly signingCert: string
  readonly signingKey: string
}

/** How `portcullis serve` was asked to run. */
export interface ServeOptions {
  readonly listen: Address
  /** Where devices reach the controller, when that is not where it listens. */
  readonly advertise: Address | undefined
  readonly storage: string
  readonly certificates: { readonly directory: string } | CertificateFiles
  readonly trustDomain: string | undefined
  readonly admin: { readonly username: string; readonly password: string } | undefined
}

export const SERVE_USAGE = `usage: portcullis serve [options]

  --listen HOST:PORT      where to listen; default 127.0.0.1:1280 (PORTCULLIS_LISTEN)
  --advertise HOST:PORT   where devices reach the controller; default as listened (PORTCULLIS_ADVERTISE)
  --storage WHERE         memory, sqlite:FILE or postgres://… (PORTCULLIS_STORAGE)
  --pki DIR               certificates and keys, created when missing; default .portcullis/pki (PORTCULLIS_PKI)
  --server-cert FILE  --server-key FILE  --ca FILE  --signing-cert FILE  --signing-key FILE
                          certificates and keys of your own instead of --pki, all five
  --trust-domain NAME     trust domain of issued SPIFFE ids (PORTCULLIS_TRUST_DOMAIN)

PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD create the admin of an empty store; they never overwrite one.
`

const FILE_OPTIONS = ['server-cert', 'server-key', 'ca', 'signing-cert', 'signing-key'] as const

/** Reads the command line and the environment; the command line wins. Throws {@link UsageError}. */
export function readServeOptions(args: readonly string[], environment: Environment): ServeOptions {
  const given = parse(args)
  const text = (option: keyof typeof given & string, variable: string, fallback?: string) =>
    given[option] ?? (environment[variable] || fallback)
  const listen = address('--listen', text('listen', 'PORTCULLIS_LISTEN', '127.0.0.1:1280') ?? '')
  const advertised = text('advertise', 'PORTCULLIS_ADVERTISE')
  const advertise = advertised === undefined ? undefined : address('--advertise', advertised)
  if (advertise === undefined && isWildcardHost(listen.host)) {
    throw new UsageError(`--listen ${listen.host} is every interface: say with --advertise where devices reach it`)
  }
  return {
    listen,
    advertise,
    storage: text('storage', 'PORTCULLIS_STORAGE', DEFAULT_STORAGE) ?? DEFAULT_STORAGE,
    certificates: certificates(given, environment),
    trustDomain: text('trust-domain', 'PORTCULLIS_TRUST_DOMAIN'),
    admin: adminCredentials(environment),
  }
}

const DEFAULT_STORAGE = 'memory'

function parse(args: readonly string[]) {
  const option = { type: 'string' } as const
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        listen: option,
        advertise: option,
        storage: option,
        pki: option,
        'server-cert': option,
        'server-key': option,
        ca: option,
        'signing-cert': option,
        'signing-key': option,
        'trust-domain': option,
      },
    })
    return values
  } catch (error) {
    throw new UsageError(`${messageOf(error)} (see portcullis serve --help)`)
  }
}

function certificates(given: ReturnType<typeof parse>, environment: Environment): ServeOptions['certificates'] {
  const missing = FILE_OPTIONS.filter((option) => given[option] === undefined)
  if (missing.length === FILE_OPTIONS.length) {
    return { directory: given.pki ?? (environment.PORTCULLIS_PKI || '.portcullis/pki') }
  }
  if (given.pki !== undefined) throw new UsageError('--pki and certificate files exclude each other')
  if (missing.length > 0) throw new UsageError(`certificate files come all five: --${missing.join(', --')} missing`)
  return {
    serverCert: given['server-cert'] ?? '',
    serverKey: given['server-key'] ?? '',
    ca: given.ca ?? '',
    signingCert: given['signing-cert'] ?? '',
    signingKey: given['signing-key'] ?? '',
  }
}

function address(option: string, text: string): Address {
  const parsed = parseAddress(text)
  if (parsed === undefined) throw new UsageError(`${option} takes HOST:PORT, for example 127.0.0.1:1280: got '${text}'`)
  return parsed
}

function adminCredentials(environment: Environment): ServeOptions['admin'] {
  const { PORTCULLIS_ADMIN_USERNAME: username, PORTCULLIS_ADMIN_PASSWORD: password } = environment
  if (!username && !password) return undefined
  if (!username || username.length < 4 || username.length > 100) {
    throw new UsageError('PORTCULLIS_ADMIN_USERNAME takes 4 to 100 characters')
  }
  if (!password || password.length < 5 || password.length > 100) {
    throw new UsageError('PORTCULLIS_ADMIN_PASSWORD takes 5 to 100 characters')
  }
  return { username, password }
}
