import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readArguments } from '../../../adapters/tools/cli/command-line/options.ts'
import { UsageError } from '../../../adapters/tools/cli/command-line/usage.ts'
import { SERVE_OPTIONS } from '../../../adapters/tools/cli/commands/serve/option-declarations.ts'
import { readServeOptions } from '../../../adapters/tools/cli/commands/serve/serve-options.ts'
import { missingPart } from '../../../adapters/tools/cli/input/address.ts'
import { openStorage } from '../../../adapters/tools/cli/input/open-storage.ts'

type Variables = Readonly<Record<string, string>>
const read = (args: readonly string[], variables: Variables = {}) => {
  const { options } = readArguments(SERVE_OPTIONS, args, variables, { command: 'serve', takesOperands: false })
  return readServeOptions(options, variables)
}
/** The message of a usage error that `work` throws. */
function refusalOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
  throw new Error('not refused')
}

const ADMIN = 'PORTCULLIS_ADMIN_USERNAME'
const PASSWORD = 'PORTCULLIS_ADMIN_PASSWORD'
const five = ['--server-cert', 'a', '--server-key', 'b', '--ca', 'c', '--signing-cert', 'd', '--signing-key', 'e']

describe('options of serve', () => {
  it('are these unless something is said', () => {
    expect(read([])).toEqual({
      listen: { host: '127.0.0.1', port: 1280 },
      advertise: undefined,
      storage: { name: '--storage', value: 'sqlite:.portcullis/portcullis.sqlite' },
      tables: {},
      pki: { kind: 'directory', directory: '.portcullis/pki' },
      trustDomain: undefined,
      compat: undefined,
      rateLimits: {},
      audit: {},
      limits: {},
      cors: { origins: [] },
      oidc: {},
      durations: {},
      admin: undefined,
      workers: 1,
      servesRouters: true,
      controlOthers: [],
      events: [],
      explorer: false,
      webhooks: {},
    })
  })

  it.each<{ args: readonly string[]; variables?: Variables; expected: object }>([
    { args: ['--listen', '[0:0::1]:0'], expected: { listen: { host: '::1', port: 0 } } },
    { args: ['--listen=Edge.Example.org:65535'], expected: { listen: { host: 'edge.example.org', port: 65_535 } } },
    { args: ['--listen', 'a:1'], variables: { PORTCULLIS_LISTEN: '?' }, expected: { listen: { host: 'a', port: 1 } } },
    { args: [], variables: { PORTCULLIS_LISTEN: '[::1]:1' }, expected: { listen: { host: '::1', port: 1 } } },
    { args: [], variables: { PORTCULLIS_LISTEN: '' }, expected: { listen: { host: '127.0.0.1', port: 1280 } } },
    { args: ['--listen', '[::]:0', '--advertise', 'a:1'], expected: { advertise: { host: 'a', port: 1 } } },
    {
      args: ['--pki', 'a'],
      variables: { PORTCULLIS_PKI: 'b' },
      expected: { pki: { kind: 'directory', directory: 'a' } },
    },
    { args: [], variables: { PORTCULLIS_PKI: 'b' }, expected: { pki: { kind: 'directory', directory: 'b' } } },
    { args: five, variables: { PORTCULLIS_PKI: 'b' }, expected: { pki: { kind: 'files' } } },
    { args: ['--compat', 'openziti'], expected: { compat: 'openziti' } },
    { args: [], variables: { PORTCULLIS_COMPAT: 'openziti' }, expected: { compat: 'openziti' } },
    { args: [], variables: { PORTCULLIS_TRUST_DOMAIN: 'corp' }, expected: { trustDomain: 'corp' } },
    { args: ['--refuse-unknown-members'], expected: { refuseUnknownMembers: true } },
    { args: [], variables: { PORTCULLIS_REFUSE_UNKNOWN_MEMBERS: 'true' }, expected: { refuseUnknownMembers: true } },
    {
      args: ['--refuse-unknown-members'],
      variables: { PORTCULLIS_REFUSE_UNKNOWN_MEMBERS: 'false' },
      expected: { refuseUnknownMembers: true },
    },
    { args: ['--backups', '/backup'], expected: { backups: '/backup' } },
    { args: ['--table-prefix', 'net_'], expected: { tables: { tablePrefix: 'net_' } } },
    {
      args: ['--storage', 'postgres://host/db'],
      variables: { PORTCULLIS_SCHEMA: 'network', PORTCULLIS_TABLE_PREFIX: 'a_' },
      expected: { tables: { schema: 'network', tablePrefix: 'a_' } },
    },
    { args: ['--storage', 'memory'], expected: { storage: { name: '--storage', value: 'memory' } } },
    {
      args: ['--cors-origin', 'https://a.example', '--cors-origin=http://b.example:8080'],
      variables: { PORTCULLIS_CORS_ORIGIN: 'https://c.example' },
      expected: { cors: { origins: ['https://a.example', 'http://b.example:8080'] } },
    },
    {
      args: [],
      variables: { PORTCULLIS_CORS_ORIGIN: 'https://a.example, https://b.example' },
      expected: { cors: { origins: ['https://a.example', 'https://b.example'] } },
    },
    { args: ['--rate-limits', 'off'], expected: { rateLimits: false } },
    {
      args: ['--audit', 'keep-days=90,bytes=4294967296'],
      expected: { audit: { keepMs: 90 * 86_400_000, mostBytes: 4_294_967_296 } },
    },
    { args: ['--oidc', 'off'], expected: { oidc: false } },
    {
      args: ['--oidc', 'https://a.example:1280/oidc, https://b.example/oidc'],
      expected: { oidc: { issuers: ['https://a.example:1280/oidc', 'https://b.example/oidc'] } },
    },
    { args: [], variables: { PORTCULLIS_OIDC: 'off' }, expected: { oidc: false } },
    {
      args: [
        '--redirect-uri',
        'http://localhost:*/cb',
        '--redirect-uri',
        'app://cb',
        '--token-lifetimes',
        'access=90s',
      ],
      variables: { PORTCULLIS_POST_LOGOUT_URI: 'https://a.example/out' },
      expected: {
        oidc: {
          redirectUris: ['http://localhost:*/cb', 'app://cb'],
          postLogoutUris: ['https://a.example/out'],
          accessTokenLifetimeMs: 90_000,
        },
      },
    },
    {
      args: ['--oidc', 'https://a.example/oidc'],
      variables: { PORTCULLIS_TOKEN_LIFETIMES: 'access=1h, id=2m,refresh=7d' },
      expected: {
        oidc: {
          issuers: ['https://a.example/oidc'],
          accessTokenLifetimeMs: 3_600_000,
          idTokenLifetimeMs: 120_000,
          refreshTokenLifetimeMs: 604_800_000,
        },
      },
    },
    {
      args: ['--session-timeout', '45m', '--enrollment-duration', '2d', '--router-enrollment-duration', '300s'],
      expected: {
        durations: {
          apiSessionTimeoutMs: 2_700_000,
          enrollmentDurationMs: 172_800_000,
          routerEnrollmentDurationMs: 300_000,
        },
      },
    },
    {
      args: [],
      variables: { PORTCULLIS_ROUTER_ENROLLMENT_DURATION: '1h' },
      expected: { durations: { routerEnrollmentDurationMs: 3_600_000 } },
    },
    {
      args: ['--control-others', 'b.example:1', '--control-others', '[::1]:2'],
      expected: {
        controlOthers: [
          { host: 'b.example', port: 1 },
          { host: '::1', port: 2 },
        ],
      },
    },
    {
      args: ['--named-cert', 'a.pem'],
      variables: { PORTCULLIS_NAMED_KEY: 'b.pem' },
      expected: { named: { cert: 'a.pem', key: 'b.pem' } },
    },
    { args: ['--limits', 'connections=7'], expected: { limits: { maxConnections: 7 } } },
    {
      args: [],
      variables: { PORTCULLIS_LIMITS: 'connections-per-address=1, arriving-bytes=2,unsent-bytes=3' },
      expected: { limits: { maxConnectionsPerAddress: 1, maxArrivingBytes: 2, maxUnsentBytes: 3 } },
    },
    {
      args: [],
      variables: { PORTCULLIS_RATE_LIMITS: 'anonymous=10/60, identity=off,passwords-by-username=3/1' },
      expected: {
        rateLimits: {
          anonymous: { limit: 10, windowMs: 60_000 },
          identity: false,
          passwordsByUsername: { limit: 3, windowMs: 1000 },
        },
      },
    },
    {
      args: [],
      variables: { [ADMIN]: 'four', [PASSWORD]: 'fiver' },
      expected: { admin: { username: 'four', password: 'fiver' } },
    },
    {
      args: [],
      variables: { [ADMIN]: 'u'.repeat(100), [PASSWORD]: 'p'.repeat(100) },
      expected: { admin: { username: 'u'.repeat(100), password: 'p'.repeat(100) } },
    },
    { args: [], variables: { [ADMIN]: '', [PASSWORD]: '' }, expected: { admin: undefined } },
  ])('$args $variables', ({ args, variables, expected }) => {
    expect(read(args, variables)).toMatchObject(expected)
  })

  it.each<{ args: readonly string[]; variables?: Variables; says: RegExp }>([
    { args: ['--frobnicate'], says: /'--frobnicate'/ },
    {
      args: [],
      variables: { PORTCULLIS_REFUSE_UNKNOWN_MEMBERS: 'yes' },
      says: /^PORTCULLIS_REFUSE_UNKNOWN_MEMBERS takes true or false, not 'yes'$/,
    },
    { args: ['--session-timeout', '30'], says: /^--session-timeout takes a duration from 1m to 3650d, .*: not '30'$/ },
    { args: ['--session-timeout', '59s'], says: /not '59s'/ },
    { args: ['--enrollment-duration', '3651d'], says: /^--enrollment-duration takes .* not '3651d'/ },
    { args: ['--router-enrollment-duration', '0h'], says: /not '0h'/ },
    { args: ['--token-lifetimes', 'acess=1h'], says: /NAME being one of access, id, refresh: not 'acess=1h'/ },
    { args: ['--token-lifetimes', 'access=24h'], says: /a refresh token has to be good for a minute longer/ },
    { args: ['--redirect-uri', 'console'], says: /^--redirect-uri takes a URI .* not 'console'$/ },
    {
      args: ['--oidc', 'off', '--token-lifetimes', 'id=1h'],
      says: /^--token-lifetimes has no meaning with --oidc off$/,
    },
    { args: ['--named-cert', 'a.pem'], says: /^--named-cert needs --named-key too$/ },
    { args: ['--named-key', 'a.pem'], says: /^--named-key needs --named-cert too$/ },
    { args: ['--control-others', 'b.example'], says: /^--control-others takes HOST:PORT/ },
    { args: ['now'], says: /'now'/ },
    { args: ['--listen'], says: /'--listen/ },
    { args: ['--listen', '--pki'], says: /'--listen'/ },
    { args: ['--help=yes'], says: /'--help'/ },
    { args: ['--pki', ''], says: /^--pki needs a value$/ },
    { args: [...five.slice(0, -1), ''], says: /^--signing-key needs a value$/ },
    { args: ['--listen', '1280'], says: /^--listen takes HOST:PORT/ },
    { args: ['--listen', ':1280'], says: /^--listen takes HOST:PORT/ },
    { args: ['--listen', '::1:1280'], says: /^--listen .*\[::1\]:1280/ },
    { args: ['--listen', '[::1]'], says: /^--listen/ },
    { args: ['--listen', '[:::]:1'], says: /^--listen/ },
    { args: ['--listen', '127.0.0.1:65536'], says: /^--listen .*65535/ },
    { args: ['--listen', '300.0.0.1:1'], says: /^--listen/ },
    { args: ['--listen', 'user@host:1'], says: /^--listen/ },
    { args: ['--listen', 'host?:1'], says: /^--listen/ },
    { args: [], variables: { PORTCULLIS_LISTEN: 'x' }, says: /^PORTCULLIS_LISTEN takes HOST:PORT/ },
    { args: ['--listen', '0.0.0.0:1280'], says: /^--advertise .*0\.0\.0\.0:1280/ },
    { args: ['--listen', '0:1280'], says: /^--advertise .*0\.0\.0\.0:1280/ },
    { args: ['--listen', '[0:0::0]:1280'], says: /^--advertise .*\[::\]:1280/ },
    { args: ['--advertise', '0.0.0.0:1280'], says: /^--advertise/ },
    { args: ['--advertise', 'host:0'], says: /^--advertise .* from 1 / },
    { args: [], variables: { PORTCULLIS_ADVERTISE: '[::]:1' }, says: /^PORTCULLIS_ADVERTISE/ },
    { args: five.slice(0, 4), says: /^--server-cert needs --ca, --signing-cert, --signing-key too$/ },
    { args: ['--pki', 'a', ...five], says: /^--pki and --server-cert exclude each other$/ },
    { args: ['--trust-domain', 'Corp!'], says: /^--trust-domain .*'Corp!'/ },
    { args: ['--table-prefix', 'a"b'], says: /^--table-prefix takes lower-case letters/ },
    { args: ['--schema', 'network'], says: /^--schema is for a storage postgres/ },
    { args: ['--oidc', 'on'], says: /^--oidc takes off, or issuers .*'on'$/ },
    { args: ['--oidc', 'http://a.example/oidc'], says: /^--oidc/ },
    { args: ['--oidc', 'https://a.example/oidc,https://b.example'], says: /^--oidc .*'https:\/\/b.example'$/ },
    { args: ['--cors-origin', '*'], says: /^--cors-origin takes an origin .*'\*'$/ },
    { args: ['--cors-origin', 'https://*.example'], says: /^--cors-origin/ },
    { args: ['--cors-origin', ''], says: /^--cors-origin/ },
    { args: [], variables: { PORTCULLIS_CORS_ORIGIN: 'https://a.example/' }, says: /^PORTCULLIS_CORS_ORIGIN/ },
    { args: ['--rate-limits', 'on'], says: /^--rate-limits takes off, .*passwords-by-username: not 'on'$/ },
    { args: ['--rate-limits', 'anonymous=0/60'], says: /^--rate-limits/ },
    { args: ['--audit', 'keep=90'], says: /^--audit takes NAME=NUMBER .*keep-days.*: not 'keep=90'$/ },
    { args: ['--rate-limits', 'toString=1/60'], says: /^--rate-limits/ },
    { args: ['--rate-limits', 'anonymous=1/60,'], says: /^--rate-limits .*not ''$/ },
    { args: [], variables: { PORTCULLIS_RATE_LIMITS: 'login=1/60' }, says: /^PORTCULLIS_RATE_LIMITS .*'login=1\/60'/ },
    {
      args: ['--limits', 'connections=0'],
      says: /^--limits takes NAME=COUNT .*unsent-bytes, unsent-bytes-per-address: not 'connections=0'$/,
    },
    { args: ['--limits', 'valueOf=1'], says: /^--limits/ },
    { args: [], variables: { PORTCULLIS_LIMITS: 'connections=1,' }, says: /^PORTCULLIS_LIMITS .*not ''$/ },
    { args: [], variables: { [ADMIN]: 'keeper' }, says: /PORTCULLIS_ADMIN_PASSWORD/ },
    { args: [], variables: { [PASSWORD]: 'hidden' }, says: /PORTCULLIS_ADMIN_USERNAME/ },
    { args: [], variables: { [ADMIN]: 'abc', [PASSWORD]: 'hidden' }, says: /^PORTCULLIS_ADMIN_USERNAME .* 4 to 100/ },
    { args: [], variables: { [ADMIN]: 'u'.repeat(101), [PASSWORD]: 'hidden' }, says: /^PORTCULLIS_ADMIN_USERNAME/ },
    { args: [], variables: { [ADMIN]: 'keeper', [PASSWORD]: 'hide' }, says: /^PORTCULLIS_ADMIN_PASSWORD .* 5 to 100/ },
    { args: [], variables: { [ADMIN]: 'keeper', [PASSWORD]: 'hide'.repeat(26) }, says: /^PORTCULLIS_ADMIN_PASSWORD/ },
  ])('refused: $args $variables', ({ args, variables, says }) => {
    const refusal = refusalOf(() => read(args, variables))
    expect(refusal).toMatch(says)
    expect(refusal).not.toMatch(/hid/)
  })
})

describe('a part that is missing', () => {
  it.each([
    ['kysely', /the package kysely: run `npm install kysely`, or choose --storage memory/],
    ['pg', /the package pg: run `npm install pg`, or choose --storage memory/],
  ])('is named: the package %s', (name, says) => {
    const message = `Cannot find package '${name}' imported from /app/node_modules/portcullis/dist/x.js`
    expect(missingPart(Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' }))).toMatch(says)
  })

  it('is named: SQLite in an earlier Node', () => {
    const error = Object.assign(new Error('No such built-in module: node:sqlite'), {
      code: 'ERR_UNKNOWN_BUILTIN_MODULE',
    })
    expect(missingPart(error)).toMatch(/Node 22\.13 or later, this is v[\d.]+: .*--storage memory/)
  })

  it.each([new Error('disk'), 'no error', Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' })])(
    'is not what is wrong: %s',
    (error) => expect(missingPart(error)).toBeUndefined(),
  )
})

describe('storage', () => {
  it('memory', async () => {
    expect((await openStorage({ name: '--storage', value: 'memory' })).name).toBe('memory')
  })

  it('a SQLite file, made when missing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-cli-'))
    const { storage, name } = await openStorage({
      name: '--storage',
      value: `sqlite:${join(folder, 'network.sqlite')}`,
    })
    expect(name).toBe('sqlite')
    expect(existsSync(join(folder, 'network.sqlite'))).toBe(true)
    await storage.close()
    rmSync(folder, { recursive: true })
  })

  it.each([
    { value: 'sqlite:', says: /^--storage takes memory, sqlite:FILE or postgres/ },
    { value: 'sqlite:/no/such/folder/network.sqlite', says: /^--storage sqlite: / },
    { value: 'postgres://me:secret@127.0.0.1:1/db', says: /^--storage postgres: / },
    { value: 'mysql://me:secret@host/db', says: /^--storage takes memory, sqlite:FILE or postgres/ },
    { value: 'Memory', says: /^--storage takes memory/ },
  ])('refused, without telling a secret: $value', async ({ value, says }) => {
    const refusal = await openStorage({ name: '--storage', value }).then(
      () => 'opened',
      (error: Error) => error.message,
    )
    expect(refusal).toMatch(says)
    expect(refusal).not.toMatch(/secret/)
  })
})
