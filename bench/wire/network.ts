import { readFile } from 'node:fs/promises'
import { importPKCS8, SignJWT } from 'jose'
import { createClient, createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { newKey, selfSigned, signingRequest } from '../../test/contract/http/signing-request.ts'
import type { ClientCertificate } from './load.ts'
import { ADMIN } from './processes.ts'

/** The entities that requests of the benchmark name: 100 services, 20 service policies, an edge router for all, and identities, of which one sees all services. */
export interface Network {
  readonly adminToken: string
  /** The session of an identity that may dial every service. */
  readonly identityToken: string
  readonly serviceIds: readonly string[]
  readonly identityIds: readonly string[]
  /** One-time tokens of identities that have not enrolled. */
  readonly enrollmentTokens: readonly string[]
  readonly csr: string
  /** Certificates of identities that have enrolled, and may dial every service. */
  readonly certificates: readonly ClientCertificate[]
  /** A token that an external signer issued to an identity. */
  readonly jwt: string
}

const IDENTITIES = 2000
/** Services, unless told otherwise. */
const SERVICES = 100
const POLICIES = 20
const ENROLLED = 16
const PAGE = 500

/** Fills the empty controller of a port, whose authority's certificate is in a file; answers what is there. */
export async function createNetwork(
  port: number,
  caFile: string,
  services = SERVICES,
  identities = IDENTITIES,
): Promise<Network> {
  const baseUrl = `https://127.0.0.1:${port}`
  const ca = await readFile(caFile, 'utf8')
  const fetch = httpsFetch({ ca })
  const query = { method: 'password' } as const
  const anonymous = createManagementClient({ baseUrl, fetch })
  const { data: session } = await anonymous.call('POST /authenticate', { query, body: ADMIN })
  const management = createManagementClient({ baseUrl, fetch, token: session.token })
  const client = createClient({ baseUrl, fetch })

  const signer = await newSigner()
  const { data: registered } = await management.call('POST /external-jwt-signers', { body: signer.body })
  const { data: policy } = await management.call('GET /auth-policies/{id}', { params: { id: 'default' } })
  const { primary } = policy
  await management.call('PATCH /auth-policies/{id}', {
    params: { id: 'default' },
    body: { primary: { extJwt: { ...primary.extJwt, allowed: true, allowedSigners: [registered.id] } } },
  })
  const serviceIds = await inParallel(services, async (index) => {
    const body = { name: `service ${index}`, encryptionRequired: true, roleAttributes: [`s${index % 10}`] }
    return (await management.call('POST /services', { body })).data.id
  })
  await inParallel(POLICIES, (index) =>
    management.call('POST /service-policies', {
      body: {
        name: `policy ${index}`,
        type: index % 2 === 0 ? 'Dial' : 'Bind',
        semantic: 'AnyOf',
        serviceRoles: [`#s${index % 10}`, `#s${(index + 5) % 10}`],
        // The first half lets everybody dial, or bind, every service.
        identityRoles: index < POLICIES / 2 ? ['#all'] : [`#i${index}`, `#i${index - 1}`],
      },
    }),
  )
  await management.call('POST /edge-routers', { body: { name: 'router' } })
  const everywhere = { name: 'everybody everywhere', semantic: 'AnyOf', edgeRouterRoles: ['#all'] } as const
  await management.call('POST /edge-router-policies', { body: { ...everywhere, identityRoles: ['#all'] } })
  await management.call('POST /service-edge-router-policies', { body: { ...everywhere, serviceRoles: ['#all'] } })
  const identityIds = await inParallel(identities, async (index) => {
    const externalId = index === 0 ? { externalId: 'alice' } : {}
    const roleAttributes = [`i${index % POLICIES}`]
    const body = { name: `device ${index}`, type: 'Device', isAdmin: false, roleAttributes, ...externalId } as const
    return (await management.call('POST /identities', { body: { ...body, enrollment: { ott: true } } })).data.id
  })
  const enrollmentTokens: string[] = []
  for (let offset = 0; offset < identities; offset += PAGE) {
    const { data: page } = await management.call('GET /enrollments', { query: { limit: PAGE, offset } })
    enrollmentTokens.push(
      ...page.flatMap(({ method, token }) => (method !== 'ott' || token === undefined ? [] : [token])),
    )
  }
  const key = newKey()
  const csr = signingRequest(key)
  // Logins of a row end the earliest sessions of their identities, so that the session of other rows is not of one of these.
  const [own, ...certificates] = await inParallel(ENROLLED + 1, async () => {
    const body = { token: enrollmentTokens.pop() ?? '', clientCsr: csr }
    const { data } = await client.call('POST /enroll/ott', { body })
    return { key, cert: data.cert ?? '' }
  })
  const device = createClient({ baseUrl, fetch: httpsFetch({ ca, ...own }) })
  const { data: deviceSession } = await device.call('POST /authenticate', { query: { method: 'cert' }, body: {} })
  return {
    adminToken: session.token,
    identityToken: deviceSession.token,
    serviceIds,
    identityIds,
    enrollmentTokens,
    csr,
    certificates,
    jwt: await signer.issue('alice'),
  }
}

/** An external signer whose key is pinned, and how it issues a token. */
async function newSigner() {
  const key = newKey()
  const issuer = 'https://idp.example'
  const audience = 'network'
  const body = { name: 'idp', issuer, audience, enabled: true, useExternalId: true, kid: 'k', certPem: selfSigned(key) }
  const privateKey = await importPKCS8(key, 'ES256')
  const issue = (subject: string) =>
    new SignJWT({ sub: subject })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey)
  return { body, issue }
}

/** Does the same for each index, sixteen at a time; the results in order. */
async function inParallel<Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async () => {
    while (next < count) {
      const index = next++
      results[index] = await work(index)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return results
}
