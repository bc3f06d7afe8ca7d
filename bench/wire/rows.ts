import type { ConstantServerKind } from './constant-server.ts'
import type { Load } from './load.ts'
import type { Network } from './network.ts'

/** One row of the benchmark: what is sent to which server. To add a request to the benchmark, add a row. */
export interface WireRow {
  readonly title: string
  /** The server that answers; `portcullis serve` over SQLite unless given. */
  readonly server?: 'sqlite' | 'memory' | ConstantServerKind
  /** How many services an identity may see; 100 unless given, and only where `server` is memory. */
  readonly services?: number
  /** A server that answers a constant, beside bare Node, that the row is compared with. */
  readonly below?: ConstantServerKind
  /** The requests, which are sent in turns. */
  requests(network: Network): readonly string[]
  /** A request that follows each of them, with the token of its answer in place of `{token}`. */
  followedBy?(network: Network): string
  /** Whether each request can be sent once: the row ends when all have been. */
  readonly isOnce?: true
  /** Connections that send at once; 16 unless given. */
  readonly connections?: number
  /** Whether each request has a connection of its own. */
  readonly isNewEach?: true
  /** Whether connections show the certificate of an identity. */
  readonly hasCertificate?: true
  /** The processor time, in ms, that a request may take beyond that of bare Node, or in all. */
  readonly targetOver?: number
  readonly target?: number
}

export const MANAGEMENT = '/edge/management/v1'
export const CLIENT = '/edge/client/v1'

const SERVICE = ({ adminToken, serviceIds }: Network) => get(adminToken, `${MANAGEMENT}/services/${serviceIds[7]}`)
const POST_SERVICE = ({ adminToken }: Network) => [post(`${MANAGEMENT}/services`, { name: 'a service' }, adminToken)]
const CURRENT_IDENTITY = ({ identityToken }: Network) => get(identityToken, `${CLIENT}/current-identity`)
const UPDATES = ({ identityToken }: Network) => get(identityToken, `${CLIENT}/current-api-session/service-updates`)
export const CERTIFICATE_LOGIN: readonly string[] = [post(`${CLIENT}/authenticate?method=cert`, {})]
export const SESSION = ({ serviceIds }: Network) =>
  post(`${CLIENT}/sessions`, { serviceId: serviceIds[0], type: 'Dial' }, '{token}')
const BODY_LOGIN = { username: 'keeper', password: 'the-keys-of-the-bench' }

/** The rows by their names. */
export const WIRE_ROWS: ReadonlyMap<string, WireRow> = new Map<string, WireRow>([
  ['service', { title: 'GET a service by id', requests: SERVICE, targetOver: 0.12 }],
  ['service-memory', { title: 'GET a service by id, memory', server: 'memory', requests: SERVICE, targetOver: 0.12 }],
  [
    'identity',
    {
      title: 'GET an identity by id',
      requests: ({ adminToken, identityIds }) => get(adminToken, `${MANAGEMENT}/identities/${identityIds[7]}`),
    },
  ],
  ['current-identity', { title: 'GET current-identity', requests: CURRENT_IDENTITY, targetOver: 0.12 }],
  ['updates', { title: 'GET service-updates', requests: UPDATES, targetOver: 0.12 }],
  ['updates-memory', { title: 'GET service-updates, memory', server: 'memory', requests: UPDATES, targetOver: 0.12 }],
  ['node', { title: 'Node adapter, constant Response', server: 'node-adapter', requests: SERVICE, targetOver: 0.04 }],
  ['node-post', { title: 'the same, with a body', server: 'node-adapter', requests: POST_SERVICE, targetOver: 0.04 }],
  ['node-plain', { title: 'Node adapter, plain', server: 'plain-node-adapter', requests: SERVICE, targetOver: 0.04 }],
  [
    'node-plain-post',
    { title: 'the same, with a body', server: 'plain-node-adapter', requests: POST_SERVICE, targetOver: 0.04 },
  ],
  [
    'express',
    { title: 'Express adapter, constant Response', server: 'express-adapter', below: 'express', requests: SERVICE },
  ],
  [
    'express-plain',
    { title: 'Express adapter, plain', server: 'plain-express-adapter', below: 'express', requests: SERVICE },
  ],
  [
    'fastify-plain',
    { title: 'Fastify adapter, plain', server: 'plain-fastify-adapter', below: 'fastify', requests: SERVICE },
  ],
  ['hono', { title: 'Hono adapter, constant Response', server: 'hono-adapter', below: 'hono', requests: SERVICE }],
  [
    'services',
    {
      title: 'list of 100 services as an identity',
      requests: ({ identityToken }) => get(identityToken, `${CLIENT}/services?limit=100`),
    },
  ],
  [
    'services-memory',
    {
      title: 'list of 100 services as an identity, memory',
      server: 'memory',
      requests: ({ identityToken }) => get(identityToken, `${CLIENT}/services?limit=100`),
    },
  ],
  ...inBoth('identities', {
    title: 'list of 100 identities',
    requests: ({ adminToken }) => get(adminToken, `${MANAGEMENT}/identities?limit=100`),
    target: 1.5,
  }),
  ...inBoth('enroll', {
    title: 'enrollment by one-time token and CSR',
    requests: ({ enrollmentTokens, csr }) =>
      enrollmentTokens.map((token) => post(`${CLIENT}/enroll/ott`, { token, clientCsr: csr })),
    isOnce: true,
    target: 2.5,
  }),
  ...inBoth('cert-login-new', {
    title: 'certificate login, new connection',
    requests: () => CERTIFICATE_LOGIN,
    hasCertificate: true,
    isNewEach: true,
    target: 2.8,
  }),
  ...inBoth('cert-login', {
    title: 'certificate login, kept connection',
    requests: () => CERTIFICATE_LOGIN,
    hasCertificate: true,
    target: 0.6,
  }),
  ...[60, 2000].map((services): [string, WireRow] => [
    `cert-login-${services}`,
    {
      title: `certificate login, kept connection, ${services} services to see`,
      server: 'memory',
      services,
      requests: () => CERTIFICATE_LOGIN,
      hasCertificate: true,
      target: 0.6,
    },
  ]),
  ...inBoth('session', {
    title: 'service session with a new login, kept connection',
    requests: () => CERTIFICATE_LOGIN,
    followedBy: SESSION,
    hasCertificate: true,
    target: 1.2,
  }),
  [
    'password-login',
    { title: 'password login', requests: () => [post(`${CLIENT}/authenticate?method=password`, BODY_LOGIN)] },
  ],
  ...inBoth('jwt-login', {
    title: 'external JWT login',
    requests: ({ jwt }) => [post(`${CLIENT}/authenticate?method=ext-jwt`, {}, undefined, `Bearer ${jwt}`)],
    target: 0.5,
  }),
  ['patch', { title: 'patch of role attributes', requests: patches }],
  [
    'patch-128',
    { title: 'patch of role attributes, 128 callers, target 1,000 a second', requests: patches, connections: 128 },
  ],
  [
    'advice',
    {
      title: 'policy advice',
      requests: ({ adminToken, identityIds, serviceIds }) =>
        identityIds.flatMap((id, index) =>
          get(adminToken, `${MANAGEMENT}/identities/${id}/policy-advice/${serviceIds[index % serviceIds.length]}`),
        ),
    },
  ],
])

/** The load of a row, by its name. Throws a TypeError for a name without a row. */
export function loadOfRow(name: string): (network: Network) => Pick<Load, 'requests' | 'certificates' | 'isNewEach'> {
  const row = WIRE_ROWS.get(name)
  if (row === undefined) throw new TypeError(`there is no row ${name}`)
  return (network) => ({
    requests: row.requests(network),
    certificates: row.hasCertificate ? network.certificates : [],
    isNewEach: row.isNewEach === true,
  })
}

/** A row over SQLite, and the same over memory. */
function inBoth(name: string, row: WireRow): [string, WireRow][] {
  return [
    [name, row],
    [`${name}-memory`, { ...row, title: `${row.title}, memory`, server: 'memory' }],
  ]
}

function patches({ adminToken, identityIds }: Network): readonly string[] {
  return [1, 2, 3].flatMap((round) =>
    identityIds.map((id, index) =>
      write('PATCH', `${MANAGEMENT}/identities/${id}`, { roleAttributes: [`i${(index + round) % 20}`] }, adminToken),
    ),
  )
}

export function get(token: string, path: string): readonly string[] {
  return [`GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nzt-session: ${token}\r\n\r\n`]
}

function post(path: string, body: object, token?: string, authorization?: string): string {
  return write('POST', path, body, token, authorization)
}

export function write(method: string, path: string, body: object, token?: string, authorization?: string): string {
  const text = JSON.stringify(body)
  const head = [
    `${method} ${path} HTTP/1.1`,
    'host: localhost',
    'accept: application/json',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...(token === undefined ? [] : [`zt-session: ${token}`]),
    ...(authorization === undefined ? [] : [`authorization: ${authorization}`]),
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}
