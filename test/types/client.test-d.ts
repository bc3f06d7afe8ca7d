// Compiled by `npm run check:types`, never run: how the typed clients may and may not be used.
import { type ApiError, createClient, createManagementClient, type Identity } from 'portcullis/client'

const management = createManagementClient({ baseUrl: 'https://controller.example.org' })
const client = createClient({ baseUrl: 'https://controller.example.org' })

export async function use(): Promise<readonly (string | undefined)[]> {
  const created = await management.call('POST /identities', {
    body: { name: 'laptop', type: 'Device', isAdmin: false, enrollment: { ott: true } },
  })
  const params = { id: created.data.id }
  const identity = await management.call('GET /identities/{id}', { params })
  const policies = await management.call('GET /service-policies', { query: { filter: 'true', limit: 5 } })
  const session = await client.call('POST /sessions', { body: { serviceId: 'web', type: 'Dial' } })
  const login = await client.call('POST /authenticate', { query: { method: 'cert' } })
  await management.call('PATCH /identities/{id}', { params, body: { roleAttributes: ['staff'] } })
  const jwt: string = await management.call('GET /cas/{id}/jwt', { params })
  const png: Uint8Array = await client.call('GET /current-identity/mfa/qr-code')
  return [
    identity.data.enrollment.ott?.jwt,
    identity.data.authPolicy?.name,
    policies.data[0]?.identityRolesDisplay[0]?.name,
    session.data.edgeRouters[0]?.urls.tls,
    login.data.token,
    jwt,
    String(png.length),
  ]
}

/** Calls that leave out all they may: a request without parts, a query of optional members, a body that is optional. */
export async function briefly(): Promise<void> {
  await management.call('GET /services')
  await management.call('GET /services', { query: { roleFilter: ['#web'], asIdentity: 'laptop' } })
  await client.call('POST /enroll/ott', { body: { token: 'token', clientCsr: 'csr' } })
  await client.call('GET /protocols')
  await client.call('POST /enroll/ca')
  // A certificate travels as the text that it is.
  await management.call('POST /cas/{id}/verify', { params: { id: 'ca' }, body: 'certificate' })
}

/** Every way in which a request can lack what its operation needs. */
export async function incomplete(): Promise<void> {
  await management.call(
    // @ts-expect-error there is no such route, and that is all that is told
    'GET /service',
  )
  // @ts-expect-error the path has a parameter
  await management.call('GET /services/{id}')
  // @ts-expect-error the path has a parameter
  await management.call('GET /services/{id}', {})
  // @ts-expect-error a service is created from a body
  await management.call('POST /services')
  // @ts-expect-error a service is created from a body
  await management.call('POST /services', {})
  // @ts-expect-error a service has a name
  await management.call('POST /services', { body: {} })
  // @ts-expect-error a patch has a body, be it empty
  await management.call('PATCH /services/{id}', { params: { id: 'web' } })
  // @ts-expect-error the method of authentication is a required part of the query
  await client.call('POST /authenticate', { body: {} })
  // @ts-expect-error what is verified is the certificate in the body
  await management.call('POST /cas/{id}/verify', { params: { id: 'ca' } })
  // @ts-expect-error this operation takes no body
  await management.call('GET /services', { body: {} })
}

/** Of variants each has the members of its own. */
export async function variants(): Promise<readonly (string | undefined)[]> {
  const check = { name: 'check' }
  await management.call('POST /posture-checks', { body: { ...check, typeId: 'DOMAIN', domains: ['corp'] } })
  await management.call('POST /posture-checks', { body: { ...check, typeId: 'MFA', timeoutSeconds: 60 } })
  // @ts-expect-error a check of a domain has domains
  await management.call('POST /posture-checks', { body: { ...check, typeId: 'DOMAIN' } })
  await management.call('POST /posture-checks', {
    // @ts-expect-error a check of a domain has no MAC addresses
    body: { name: 'check', typeId: 'DOMAIN', domains: ['corp'], macAddresses: [] },
  })
  const { data: shown } = await management.call('GET /posture-checks/{id}', { params: { id: 'check' } })
  // @ts-expect-error only checks of processes have one
  shown.process
  const { data: session } = await client.call('GET /current-api-session')
  const [query] = session.authQueries
  const { data: authenticators } = await management.call('GET /authenticators')
  const [authenticator] = authenticators
  // @ts-expect-error policies grant dialing or binding
  await management.call('POST /service-policies', { body: { name: 'policy', semantic: 'AllOf', type: 'Invalid' } })
  // @ts-expect-error an enrollment at a CA names the CA
  await management.call('POST /enrollments', { body: { method: 'ottca', identityId: 'laptop', expiresAt: '' } })
  // @ts-expect-error a username and password is made of both
  await management.call('POST /authenticators', { body: { method: 'updb', identityId: 'laptop', username: 'alice' } })
  return [
    shown.typeId === 'DOMAIN' ? shown.domains[0] : shown.typeId === 'PROCESS' ? shown.process.path : undefined,
    query?.typeId === 'EXT-JWT' ? query.id : query?.httpUrl,
    authenticator?.method === 'cert' ? authenticator.fingerprint : authenticator?.username,
  ]
}

/** Types that clients read have a name each, and the code of an error is one of a list. */
export function named(identity: Identity, error: ApiError): string {
  // @ts-expect-error there is no such member
  identity.passwordHash
  // @ts-expect-error no controller answers this code
  if (error.code === 'NOT_FOUNT') return ''
  return error.code === 'NOT_FOUND' ? (identity.authPolicy?.name ?? '') : (identity.enrollment.ottca?.caId ?? '')
}

export async function misuse(): Promise<void> {
  // @ts-expect-error an identity needs a type
  await management.call('POST /identities', { body: { name: 'laptop', isAdmin: false } })
  // @ts-expect-error there is no such operation
  await management.call('GET /nothing')
  // @ts-expect-error the path has a parameter
  await management.call('GET /identities/{id}', {})
  // @ts-expect-error the client API does not create identities
  await client.call('POST /identities', { body: {} })
  // @ts-expect-error sessions dial or bind
  await client.call('POST /sessions', { body: { serviceId: 'web', type: 'Listen' } })
  const { data } = await management.call('GET /services')
  // @ts-expect-error the digest of a token is never shown
  data[0].tokenDigest
}

/** All items of a list have the type of one. */
export async function lists(): Promise<void> {
  const signal = AbortSignal.timeout(1000)
  for await (const identity of management.listAll('GET /identities', { filter: 'isAdmin = true', signal })) {
    const known: Identity = identity
    // @ts-expect-error an identity has no such member
    known.nickname
  }
  for await (const terminator of management.listAll('GET /services/{id}/terminators', { params: { id: 'wiki' } })) {
    terminator.binding satisfies string
  }
  // @ts-expect-error this operation answers no list
  management.listAll('GET /version')
  // @ts-expect-error where a page begins is what this asks for by itself
  management.listAll('GET /services', { offset: 5 })
}
