import { expect } from 'vitest'
import { adminOf, CLIENT, create, type ForeignClient, foreignClient, MANAGEMENT, read } from './foreign-client.ts'
import type { ClientCertificate, MountedController } from './mount.ts'
import { newKey, signingRequest } from './signing-request.ts'

/** An identity that has enrolled and logged in with its certificate. */
export interface Enrolled {
  readonly id: string
  readonly certificate: ClientCertificate
  /** The client API in its API session. */
  readonly api: ForeignClient
  /** The management API in the same API session. */
  readonly management: ForeignClient
}

interface EnrollmentKey {
  readonly key: string
  readonly csr: string
}

/** The openssl command line takes longer than an enrollment, so controllers have the first keys in common, and the second. */
const keys: EnrollmentKey[] = []
const enrollments = new WeakMap<MountedController, number>()

function nextKey(mounted: MountedController): EnrollmentKey {
  const index = enrollments.get(mounted) ?? 0
  enrollments.set(mounted, index + 1)
  const known = keys[index]
  if (known !== undefined) return known
  const key = newKey()
  const made = { key, csr: signingRequest(key) }
  keys.push(made)
  return made
}

/** Creates an identity and enrolls it with a one-time token. */
export async function enroll(
  mounted: MountedController,
  admin: ForeignClient,
  identity: { readonly name: string } & Readonly<Record<string, unknown>>,
): Promise<{ readonly id: string; readonly certificate: ClientCertificate }> {
  const id = await create(admin, '/identities', {
    type: 'User',
    isAdmin: false,
    enrollment: { ott: true },
    ...identity,
  })
  const { token } = (await read(admin, `/identities/${id}`)).enrollment.ott
  const { key, csr } = nextKey(mounted)
  const answer = await foreignClient(mounted, CLIENT).post('/enroll/ott', { token, clientCsr: csr })
  expect(answer.status, answer.text).toBe(200)
  return { id, certificate: { cert: answer.body.data.cert, key } }
}

/** Starts an API session with a client certificate. */
export async function certificateLogin(mounted: MountedController, certificate: ClientCertificate): Promise<string> {
  const answer = await foreignClient(mounted, CLIENT, undefined, certificate).post('/authenticate?method=cert', {})
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data.token
}

/** Creates an identity, enrolls it and logs it in. */
export async function enrolled(
  mounted: MountedController,
  admin: ForeignClient,
  identity: { readonly name: string } & Readonly<Record<string, unknown>>,
): Promise<Enrolled> {
  const { id, certificate } = await enroll(mounted, admin, identity)
  const token = await certificateLogin(mounted, certificate)
  const api = foreignClient(mounted, CLIENT, token, certificate)
  return { id, certificate, api, management: foreignClient(mounted, MANAGEMENT, token, certificate) }
}

/** A small network: `alice` may dial `web`, when the posture checks with the attribute `required` pass. */
export interface Network {
  readonly mounted: MountedController
  readonly admin: ForeignClient
  readonly alice: Enrolled
  readonly serviceId: string
  readonly policyId: string
  readonly routerId: string
}

/** Builds the small network in a fresh controller. */
export async function network(mounted: MountedController): Promise<Network> {
  const admin = await adminOf(mounted)
  const alice = await enrolled(mounted, admin, { name: 'alice', roleAttributes: ['people'] })
  const serviceId = await create(admin, '/services', {
    name: 'web',
    encryptionRequired: true,
    roleAttributes: ['apps'],
  })
  const policyId = await create(admin, '/service-policies', {
    name: 'people dial apps',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: ['#people'],
    serviceRoles: ['#apps'],
    postureCheckRoles: ['#required'],
  })
  const routerId = await create(admin, '/edge-routers', { name: 'router', roleAttributes: ['public'] })
  const everybody = { semantic: 'AnyOf', edgeRouterRoles: ['#public'] }
  await create(admin, '/edge-router-policies', { name: 'all', ...everybody, identityRoles: ['#all'] })
  await create(admin, '/service-edge-router-policies', { name: 'all', ...everybody, serviceRoles: ['#all'] })
  return { mounted, admin, alice, serviceId, policyId, routerId }
}
