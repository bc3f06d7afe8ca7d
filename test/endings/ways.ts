import { SignJWT } from 'jose'
import { createPkiMaterial, type PkiMaterial } from 'portcullis'
import { type EnrolledRouter, enrollEdgeRouter } from 'portcullis/testing'
import type { ClientCertificate } from '../contract/http/mount.ts'
import {
  createCsrPem,
  createKeys,
  day,
  type Issued,
  issueAuthority,
  issueClient,
  keyPemOf,
  now,
  pemOf,
} from '../support/certificates/certificates.ts'
import { authPolicy } from '../support/people.ts'
import { CLAIM, clientOf, TRUSTED } from '../support/third-party.ts'
import { totp } from '../support/totp.ts'
import { type Answered, memoryStore, type Process, type SharedStore, startTwo } from './two-processes.ts'

/** How somebody logs in. Each way has an identity of its own, and whatever that logs in by. */
export const WAYS = ['password', 'totp', 'cert', 'ca', 'claim', 'jwt', 'signed'] as const
export type Way = (typeof WAYS)[number]

/** An identity that logs in one way, what it logs in by, and what it may do. */
export interface Subject {
  readonly way: Way
  readonly id: string
  readonly username: string
  readonly policyId: string
  readonly certificate: ClientCertificate | undefined
  readonly secret: string | undefined
  /** The service that it may dial, which the router `r2` hosts, and the one that it may host, which the router `r1` may dial. */
  readonly dials: { readonly serviceId: string; readonly policyId: string; readonly name: string }
  readonly hosts: { readonly serviceId: string; readonly policyId: string; readonly name: string }
  readonly routerPolicyId: string
  readonly serviceRouterPolicyId: string
}

/** A network before anything in it ended, to be forked. */
export interface Network {
  readonly store: SharedStore
  readonly pki: PkiMaterial
  readonly subjects: Readonly<Record<Way, Subject>>
  readonly r1: EnrolledRouter
  readonly r2: EnrolledRouter
  readonly ca: { readonly id: string; readonly authority: Issued }
  readonly claimCa: { readonly id: string }
  readonly signer: Signer
  readonly second: Signer
  readonly startsAt: number
}

export interface Signer {
  readonly id: string
  readonly kid: string
  readonly issued: Issued
  readonly issuer: string
  readonly notAfter: number
}

export const PASSWORD = 'Correct-Horse-1'
/** When the certificate of the external JWT signer and those of clients of other authorities expire. */
export const THIRD_PARTY_ENDS = now + day
const YEAR_MS = 365 * day

export async function buildNetwork(store = memoryStore()): Promise<Network> {
  const midnight = new Date(now).setUTCHours(0, 0, 0, 0)
  const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'portcullis.internal', now: midnight })
  const two = await startTwo(store, pki, now)
  const { A } = two
  const login = { json: { username: 'admin', password: 'admin-password' } }
  const { token } = (await A.ask('POST', '/edge/management/v1/authenticate?method=password', login)).body.data
  const enroll = (name: string) =>
    enrollEdgeRouter({ fetch: A.controller.fetch }, token, { name, isTunnelerEnabled: true })
  const [r1, r2] = [await enroll('r1'), await enroll('r2')]
  const [authority, other] = [await longAuthority('CN=third'), await longAuthority('CN=claimed')]
  const caId = await registerCa(A, 'third', authority)
  const claimId = await registerCa(A, 'claimed', other, { externalIdClaim: CLAIM })
  const [signer, second] = [await registerSigner(A, 'signer'), await registerSigner(A, 'second')]
  const subjects: Partial<Record<Way, Subject>> = {}
  for (const way of WAYS) {
    subjects[way] = await newSubject(A, way, { r1, r2, caId, authority, other, second: second.id }, () => two.now())
  }
  await two.close()
  return {
    store,
    pki,
    subjects: subjects as Record<Way, Subject>,
    r1,
    r2,
    ca: { id: caId, authority },
    claimCa: { id: claimId },
    signer,
    second,
    startsAt: now,
  }
}

const longAuthority = (subject: string) => issueAuthority({ subject, notAfter: now + YEAR_MS })

async function registerCa(at: Process, name: string, authority: Issued, change: object = {}): Promise<string> {
  const id = await at.create('/cas', { name, certPem: pemOf(authority), ...TRUSTED, identityRoles: [], ...change })
  const { verificationToken } = await at.told('GET', `/cas/${id}`)
  const { cert } = await clientOf(authority, verificationToken)
  await at.told('POST', `/cas/${id}/verify`, cert)
  return id
}

async function registerSigner(at: Process, name: string): Promise<Signer> {
  const issued = await issueClient({ subject: `CN=${name}`, notAfter: THIRD_PARTY_ENDS })
  const issuer = `https://${name}.example`
  const fields = { name, issuer, audience: 'network', enabled: true, useExternalId: true, claimsProperty: 'sub' }
  const id = await at.create('/external-jwt-signers', { ...fields, certPem: pemOf(issued), kid: name })
  return { id, kid: name, issued, issuer, notAfter: THIRD_PARTY_ENDS }
}

interface Given {
  readonly r1: EnrolledRouter
  readonly r2: EnrolledRouter
  readonly caId: string
  readonly authority: Issued
  readonly other: Issued
  readonly second: string
}

async function newSubject(at: Process, way: Way, given: Given, clock: () => number): Promise<Subject> {
  const name = `by-${way}`
  const secondary = { requireTotp: way === 'totp', requireExtJwtSigner: way === 'signed' ? given.second : null }
  // By its token alone nobody gets in where that is a second factor.
  const extJwt = { allowed: way !== 'signed' }
  const policyId = await at.create('/auth-policies', authPolicy(`policy-${way}`, {}, secondary, extJwt))
  const enrollment = way === 'ca' ? { ottca: given.caId } : way === 'cert' ? { ott: true } : {}
  const identity = { name, type: 'User', isAdmin: false, roleAttributes: [way], permissions: ['service', 'ops'] }
  const externalId = way === 'claim' || way === 'jwt' || way === 'signed' ? { externalId: `${way}@example` } : {}
  const id = await at.create('/identities', { ...identity, ...externalId, authPolicyId: policyId, enrollment })
  const byPassword = way === 'password' || way === 'totp' || way === 'signed'
  if (byPassword) {
    await at.create('/authenticators', { method: 'updb', identityId: id, username: name, password: PASSWORD })
  }
  const certificate = await enrolledCertificate(at, way, id, given)
  const secret = way === 'totp' ? await enrolledInMfa(at, name, clock) : undefined
  const any = { semantic: 'AnyOf' }
  const service = (kind: string) =>
    at.create('/services', { name: `${kind}-${way}`, encryptionRequired: false, roleAttributes: [`${kind}-${way}`] })
  const [dialed, hosted] = [await service('dialed'), await service('hosted')]
  const policy = (type: string, kind: string, identityRoles: readonly string[]) =>
    at.create('/service-policies', {
      ...any,
      name: `${type}-${kind}-${way}`,
      type,
      identityRoles,
      serviceRoles: [`#${kind}-${way}`],
    })
  const dialPolicy = await policy('Dial', 'dialed', [`#${way}`])
  const bindPolicy = await policy('Bind', 'hosted', [`#${way}`])
  await policy('Bind', 'dialed', [`@${given.r2.id}`])
  await policy('Dial', 'hosted', [`@${given.r1.id}`])
  const routers = { edgeRouterRoles: ['#all'] }
  const identityRoles = [`@${id}`, `@${given.r1.id}`, `@${given.r2.id}`]
  const routerPolicyId = await at.create('/edge-router-policies', { ...any, name, identityRoles, ...routers })
  const serviceRoles = [`@${dialed}`, `@${hosted}`]
  const serviceRouterPolicyId = await at.create('/service-edge-router-policies', {
    ...any,
    name,
    serviceRoles,
    ...routers,
  })
  return {
    way,
    id,
    username: name,
    policyId,
    certificate,
    secret,
    dials: { serviceId: dialed, policyId: dialPolicy, name: `dialed-${way}` },
    hosts: { serviceId: hosted, policyId: bindPolicy, name: `hosted-${way}` },
    routerPolicyId,
    serviceRouterPolicyId,
  }
}

async function enrolledCertificate(at: Process, way: Way, id: string, { authority, other }: Given) {
  if (way === 'claim') return clientOf(other, `${way}@example`)
  if (way !== 'cert' && way !== 'ca') return undefined
  const { enrollment } = await at.told('GET', `/identities/${id}`)
  if (way === 'ca') {
    const certificate = await clientOf(authority, 'device')
    await expectStatus(
      at.ask('POST', '/edge/client/v1/enroll/ottca', { json: { token: enrollment.ottca.token }, certificate }),
    )
    return certificate
  }
  const keys = await createKeys()
  const json = { token: enrollment.ott.token, clientCsr: await createCsrPem({ keys }) }
  const { body } = await expectStatus(at.ask('POST', '/edge/client/v1/enroll/ott', { json }))
  return { cert: body.data.cert as string, key: await keyPemOf(keys) }
}

async function enrolledInMfa(at: Process, username: string, clock: () => number): Promise<string> {
  const json = { username, password: PASSWORD }
  const { body } = await at.ask('POST', '/edge/client/v1/authenticate?method=password', { json })
  const zt = body.data.token
  await expectStatus(at.ask('POST', '/edge/client/v1/current-identity/mfa', { zt }))
  const shown = await at.ask('GET', '/edge/client/v1/current-identity/mfa', { zt })
  const secret = new URL(shown.body.data.provisioningUrl).searchParams.get('secret') ?? ''
  const code = totp(secret, clock())
  await expectStatus(at.ask('POST', '/edge/client/v1/current-identity/mfa/verify', { zt, json: { code } }))
  await at.ask('DELETE', '/edge/client/v1/current-api-session', { zt })
  return secret
}

async function expectStatus(asked: Promise<Answered>): Promise<Answered> {
  const answer = await asked
  if (answer.status >= 400) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer
}

/** A token of a signer that names somebody. */
export async function signedBy(
  { issued, issuer, kid }: Signer,
  subject: string,
  at: number,
  more: { readonly groups?: readonly string[] } = {},
): Promise<string> {
  const seconds = Math.floor(at / 1000)
  const claims = { iss: issuer, aud: 'network', sub: subject, iat: seconds, exp: seconds + 300, ...more }
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(issued.keys.privateKey)
}
