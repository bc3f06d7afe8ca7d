import { stat } from 'node:fs/promises'
import type { PkiFiles } from '../../../../web/node/index.ts'
import type { GivenOptions, OptionDeclarations } from '../../command-line/options.ts'
import type { Setting } from '../../command-line/usage.ts'

/** Certificates and keys in files of their own, all of them or none, instead of a folder. */
export const CERTIFICATE_FILE_OPTIONS = {
  'server-cert': { value: 'FILE', summary: 'TLS server certificate with its intermediates' },
  'server-key': { value: 'FILE', summary: 'its key' },
  'signing-cert': { value: 'FILE', summary: 'authority that signs client certificates' },
  'signing-key': { value: 'FILE', summary: 'its key' },
  ca: { value: 'FILE', summary: 'trust bundle that the server and the signing certificate lead to' },
} as const satisfies OptionDeclarations

/** The options of `portcullis serve`. */
export const SERVE_OPTIONS = {
  config: {
    value: 'FILE',
    variable: true,
    summary: 'read options from a file, YAML or JSON, by their names; options and variables that are given win over it',
  },
  check: { summary: 'tell whether options, the file and the certificates can be used, and serve nothing' },
  listen: {
    value: 'HOST:PORT',
    variable: true,
    summary: 'where to listen; port 0 lets the system choose; default 127.0.0.1:1280',
  },
  advertise: {
    value: 'HOST:PORT',
    variable: true,
    summary: 'where clients reach the controller; default: the address of --listen',
  },
  'control-listen': {
    value: 'HOST:PORT',
    variable: true,
    summary:
      'where routers connect; default: the address of --listen, by ALPN ziti-ctrl; with --workers the first of their ports',
  },
  'control-advertise': {
    value: 'HOST:PORT',
    variable: true,
    summary: 'where routers reach it; default: --advertise, or the address of --control-listen',
  },
  'control-others': {
    value: 'HOST:PORT',
    repeatable: true,
    variable: true,
    summary:
      'where routers reach another controller over the same storage; the controller announces it to them; may be repeated',
  },
  router: {
    summary:
      'also run an edge router: SDKs and tunnelers dial and host at the address of --listen, or of --router-listen',
  },
  gateway: {
    value: '*.DOMAIN',
    variable: true,
    summary: 'also open dark apps to browsers, each service at its name below the domain, with --router',
  },
  'gateway-listen': {
    value: 'HOST:PORT',
    variable: true,
    summary: 'where browsers reach the gateway; default 127.0.0.1:443',
  },
  'gateway-cert': { value: 'FILE', variable: true, summary: 'the certificate of the gateway with its intermediates' },
  'gateway-key': { value: 'FILE', variable: true, summary: 'its key' },
  acme: {
    value: 'ROLES',
    variable: true,
    summary:
      'certificates of the gateway by ACME, for its home and the services of these roles, such as #web,@payroll or #all; ' +
      'takes the package acme-client',
  },
  'acme-agree': { variable: true, summary: 'agree to the terms of service of the ACME server' },
  'acme-directory': {
    value: 'URL',
    variable: true,
    summary: "the directory of the ACME server; default: that of Let's Encrypt",
  },
  'acme-contact': { value: 'MAIL', variable: true, summary: 'the address for mails of the ACME server; default: none' },
  'acme-folder': {
    value: 'DIR',
    variable: true,
    summary: 'folder of the account, the certificates and their keys; default .portcullis/acme',
  },
  'router-name': {
    value: 'NAME',
    variable: true,
    summary:
      'the name of that edge router, one for each process over a storage; default: portcullis; with --workers the first of ' +
      'their names, and NAME-2 and so on',
  },
  'router-listen': {
    value: 'HOST:PORT',
    variable: true,
    summary:
      'where SDKs, tunnelers and links reach that edge router; default: the address of --listen; with --workers the first ' +
      'of their ports',
  },
  'router-advertise': {
    value: 'HOST:PORT',
    variable: true,
    summary: 'where they are led to; default: --advertise, or the address of --router-listen',
  },
  storage: {
    value: 'STORAGE',
    variable: true,
    summary: 'sqlite:FILE, postgres://… or memory; default sqlite:.portcullis/portcullis.sqlite',
  },
  'table-prefix': { value: 'TEXT', variable: true, summary: 'stands before the names of the tables; default: nothing' },
  backups: {
    value: 'DIR',
    variable: true,
    summary: 'a folder of portcullis backup run: findings name a latest copy that is two days old',
  },
  schema: {
    value: 'NAME',
    variable: true,
    summary: 'PostgreSQL schema of the tables, created when missing; default: that of the connection',
  },
  pki: {
    value: 'DIR',
    variable: true,
    summary: 'folder of certificates and keys, created when missing; default .portcullis/pki',
  },
  ...CERTIFICATE_FILE_OPTIONS,
  'named-cert': {
    value: 'FILE',
    variable: true,
    summary: 'a second server certificate with its intermediates, for clients that ask for one of its names (SNI)',
  },
  'named-key': { value: 'FILE', variable: true, summary: 'its key' },
  'trust-domain': {
    value: 'NAME',
    variable: true,
    summary: 'SPIFFE trust domain; default: the one of the certificates, portcullis.internal in new ones',
  },
  compat: {
    value: 'openziti',
    choices: ['openziti'],
    variable: true,
    summary: 'be as lenient as deployed controllers where this one is stricter by default',
  },
  'direct-e2ee': {
    value: 'permissive|directOnly',
    choices: ['permissive', 'directOnly'],
    variable: true,
    summary: 'let the two ends of a circuit prove themselves to each other, or demand it; default: neither',
  },
  oidc: {
    value: 'off|ISSUERS',
    variable: true,
    summary:
      'no logins by OpenID Connect; or by whose names tokens are issued, with commas between; ' +
      'default: https://HOST:PORT/oidc for the addresses and names of the server',
  },
  'redirect-uri': {
    value: 'URI',
    repeatable: true,
    variable: true,
    summary:
      'where clients may be sent after a login by OpenID Connect; may be repeated; default openziti://auth/callback, and ' +
      '/auth/callback of localhost and 127.0.0.1 at any port',
  },
  'post-logout-uri': {
    value: 'URI',
    repeatable: true,
    variable: true,
    summary: 'where clients may be sent after a logout; may be repeated; default: as --redirect-uri, with /auth/logout',
  },
  'token-lifetimes': {
    value: 'LIFETIMES',
    variable: true,
    summary: 'NAME=DURATION with commas between; the others keep their defaults: access=30m, id=30m, refresh=24h',
  },
  'session-timeout': {
    value: 'DURATION',
    variable: true,
    summary: 'how long an API session lasts that nobody uses, such as 90s, 30m, 3h or 7d; default 30m',
  },
  'enrollment-duration': {
    value: 'DURATION',
    variable: true,
    summary: 'how long an enrollment token is good; default 3h',
  },
  'router-enrollment-duration': {
    value: 'DURATION',
    variable: true,
    summary: 'the same for routers; default: --enrollment-duration',
  },
  workers: {
    value: 'N|auto',
    variable: true,
    summary: 'processes that answer behind the one port, auto: one for each core; default 1; not with memory storage',
  },
  'refuse-unknown-members': {
    variable: true,
    summary: 'refuse bodies with a member that the operation does not know, instead of dropping it; default: not',
  },
  'cors-origin': {
    value: 'ORIGIN',
    repeatable: true,
    variable: true,
    summary: 'lets pages of this origin, such as https://console.example, call the APIs; may be repeated',
  },
  'webhook-allow': {
    value: 'ADDRESS|SUBNET',
    repeatable: true,
    variable: true,
    summary:
      'lets webhooks lead to these inward addresses, such as 10.1.0.0/16, also without TLS; may be repeated; default: none',
  },
  'rate-limits': {
    value: 'LIMITS',
    variable: true,
    summary:
      'off, or NAME=COUNT/SECONDS and NAME=off with commas between; the others keep their defaults: ' +
      'anonymous=60000/60 and passwords-by-address=6000/60 for an address, identity=600000/60 for an identity, ' +
      'passwords-by-username=1200/60 for a username',
  },
  limits: {
    value: 'LIMITS',
    variable: true,
    summary:
      'NAME=COUNT with commas between; the others keep their defaults: connections=10000 in all, ' +
      'connections-per-address=5000 (half of all), arriving-bytes=33554432 for request bodies until they are whole, ' +
      'unsent-bytes=67108864 for answers until they are read, unsent-bytes-per-address=33554432 (half of all)',
  },
  audit: {
    value: 'NUMBERS',
    variable: true,
    summary:
      'NAME=NUMBER with commas between; the others keep their defaults: keep-days=365 for records of the audit trail, ' +
      'bytes=1073741824 of all of them, stranger-bytes-per-hour=262144 of refused logins, ' +
      'endpoint-bytes-per-hour=262144 of each identity without rights, ' +
      'use-bytes-per-hour=1048576 of all of these identities together',
  },
  explorer: {
    summary: 'answer the access explorer, a page for browsers, at /portcullis/explorer/; default: not',
  },
  docs: {
    summary: 'answer the API reference at /portcullis/docs to everybody who reaches the server; default: not',
  },
  events: {
    value: 'stdout|file:FILE',
    repeatable: true,
    variable: true,
    summary:
      'write what happens as lines of JSON, in the form of deployed controllers, to standard output or behind a file; ' +
      'may be repeated',
  },
  'events-size': {
    value: 'MIB',
    variable: true,
    summary:
      'a file of --events that is larger is moved to FILE.1, in the place of the one before; default 256; a file that ' +
      'somebody else moved is opened anew within a second, and at SIGHUP',
  },
  probes: {
    summary: 'answer /healthz, /readyz and /metrics (Prometheus) to everybody who reaches the server; default: not',
  },
} as const satisfies OptionDeclarations

/** The options of `serve` as they were given. */
export type ServeArguments = GivenOptions<keyof typeof SERVE_OPTIONS>

/** The permission bits that let users other than the owner and the group read or write a file. */
const OTHERS = 0o006

/** SQLite keeps records in these files too. */
const SQLITE_SUFFIXES = ['', '-wal', '-journal']

/**
 * Warns the operator of files that hold secrets, one line each: private keys, and a database, whose enrollment tokens are
 * readable, that every user of the machine may read or change.
 */
export async function exposureNotes(storage: Setting, files: PkiFiles): Promise<readonly string[]> {
  // Windows has no such permissions, and reports some for every file.
  if (process.platform === 'win32') return []
  const file = /^sqlite:(.*)$/s.exec(storage.value)?.[1]
  const databases = file === undefined || file === ':memory:' ? [] : SQLITE_SUFFIXES.map((suffix) => `${file}${suffix}`)
  const keys = [files.signingKeyPem, files.serverKeyPem, ...(files.caKeyPem === undefined ? [] : [files.caKeyPem])]
  const notes = [
    ...keys.map((path) => noteOf(path, 'the private key')),
    ...databases.map((path) => noteOf(path, 'the database')),
  ]
  return (await Promise.all(notes)).filter((note) => note !== undefined)
}

async function noteOf(path: string, what: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || (found.mode & OTHERS) === 0) return undefined
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0')
  return `warning: ${what} ${path} is open to every user of this machine (mode ${mode}): chmod 600 closes it`
}
