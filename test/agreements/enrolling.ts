import { importPKCS8, SignJWT } from 'jose'
import { createRouterRequests } from '../../adapters/network/enrollment/created-requests.ts'
import { certificatesIn, createSigningRequest } from '../../adapters/network/enrollment/index.ts'
import { createKeys, type Issued, issueAuthority, keyPemOf, now, pemOf } from '../support/certificates/certificates.ts'
import { clientOf, newAuthority, TRUSTED } from '../support/third-party.ts'
import { administering, type ControllerProcess, clientsOf } from './mortal-network.ts'

export const METHODS = ['ott', 'ottca', 'ca', 'updb', 'token', 'token to cert', 'erott', 'trott'] as const
export type Method = (typeof METHODS)[number]

/** Shows a controller that it is enrolled. Rejects where it is not let in. */
export type Proof = (process: ControllerProcess) => Promise<void>

/** One try to enroll. */
export interface Attempt {
  /** Answers the proof that is in the answer. */
  readonly enroll: (process: ControllerProcess) => Promise<Proof>
  /** The proof that it has without an answer; undefined where the answer brings the certificate. */
  readonly own: Proof | undefined
  /** Invites again after the certificate of an answer was lost. */
  readonly again: (process: ControllerProcess) => Promise<Attempt>
}

type Admin = Awaited<ReturnType<typeof administering>>

const PASSWORD = 'Correct-Horse-1'

/** Prepares everything that every method needs, at a process without faults. */
export async function prepared(process: ControllerProcess): Promise<(method: Method) => Promise<Attempt>> {
  const admin = await administering(process)
  const authority = await newAuthority('third party')
  const caId = await trustedCa(admin, authority)
  const idp = await signer(admin)
  return async (method) => {
    switch (method) {
      case 'ott':
        return byToken(await identity(admin, { ott: true }))
      case 'ottca':
        return byCertificate(await clientOf(authority, 'owner'), (await identity(admin, { ottca: caId })).token)
      case 'ca':
        return byCertificate(await clientOf(authority, 'stranger'))
      case 'updb':
        return byPassword((await identity(admin, { updb: 'somebody' })).token)
      case 'token':
        return bySigner(await idp('carol'))
      case 'token to cert':
        return bySignerToCertificate(await idp('david'))
      case 'erott':
      case 'trott':
        return router(admin, method)
    }
  }
}

async function trustedCa({ management }: Admin, authority: Issued): Promise<string> {
  const body = { name: 'third party', certPem: pemOf(authority), ...TRUSTED }
  const { id } = (await management.call('POST /cas', { body })).data
  const { verificationToken } = (await management.call('GET /cas/{id}', { params: { id } })).data
  const { cert } = await clientOf(authority, verificationToken ?? '')
  await management.call('POST /cas/{id}/verify', { params: { id }, body: cert })
  return id
}

/** A signer whose tokens enroll; answers tokens by their subject. */
async function signer({ management }: Admin): Promise<(sub: string) => Promise<string>> {
  const keys = await createKeys()
  const certPem = pemOf(await issueAuthority({ subject: 'CN=signer', keys }))
  const enrolls = { enrollToCertEnabled: true, enrollToTokenEnabled: true, useExternalId: true }
  const named = { name: 'idp', issuer: 'https://idp.example', audience: 'network', enabled: true }
  const { id } = (await management.call('POST /external-jwt-signers', { body: { ...named, ...enrolls, certPem } })).data
  const { kid } = (await management.call('GET /external-jwt-signers/{id}', { params: { id } })).data
  const key = await importPKCS8(await keyPemOf(keys), 'ES256')
  const iat = Math.floor(now / 1000)
  return (sub) =>
    new SignJWT({ iss: named.issuer, aud: named.audience, sub, iat, exp: iat + 86_400 })
      .setProtectedHeader({ alg: 'ES256', kid: String(kid) })
      .sign(key)
}

async function identity({ management }: Admin, enrollment: { ott?: boolean; ottca?: string; updb?: string }) {
  const body = { name: 'invited', type: 'Device' as const, isAdmin: false, enrollment }
  const { id } = (await management.call('POST /identities', { body })).data
  const shown = (await management.call('GET /identities/{id}', { params: { id } })).data.enrollment
  return { id, token: (shown.ott ?? shown.ottca ?? shown.updb)?.token ?? '' }
}

function holding(cert: string): Proof {
  return async (process) => {
    const { client } = clientsOf(process, undefined, certificatesIn(cert))
    await client.call('POST /authenticate', { query: { method: 'cert' }, body: {} })
  }
}

/** Invites an identity again, by its name, as `portcullis invite NAME --again` does. */
async function invitedAgain({ controller }: ControllerProcess, name: string): Promise<Attempt> {
  const { id, jwt } = await controller.invite(name, { again: true })
  const { jti } = JSON.parse(Buffer.from(String(jwt.split('.')[1]), 'base64url').toString())
  return byToken({ id, token: jti })
}

function byToken({ id, token }: { readonly id: string; readonly token: string }): Attempt {
  return {
    enroll: async (process) => {
      const { csr } = await createSigningRequest(id)
      const { data } = await clientsOf(process).client.call('POST /enroll/ott', { body: { token, clientCsr: csr } })
      return holding(data.cert)
    },
    own: undefined,
    again: (process) => invitedAgain(process, 'invited'),
  }
}

function byCertificate({ cert }: { readonly cert: string }, token?: string): Attempt {
  const proof = holding(cert)
  const query = { method: token === undefined ? 'ca' : 'ottca', ...(token !== undefined && { token }) }
  return {
    enroll: async (process) => {
      const { client } = clientsOf(process, undefined, certificatesIn(cert))
      await client.call('POST /enroll', { query, body: {} })
      return proof
    },
    own: proof,
    again: neverNeeded,
  }
}

function byPassword(token: string): Attempt {
  const proof: Proof = async (process) => {
    const body = { username: 'somebody', password: PASSWORD }
    await clientsOf(process).client.call('POST /authenticate', { query: { method: 'password' }, body })
  }
  return {
    enroll: async (process) => {
      await clientsOf(process).client.call('POST /enroll/updb', { query: { token }, body: { password: PASSWORD } })
      return proof
    },
    own: proof,
    again: neverNeeded,
  }
}

function bySigner(jwt: string): Attempt {
  const headers = { authorization: `Bearer ${jwt}` }
  const proof: Proof = async (process) => {
    await clientsOf(process).client.call('POST /authenticate', { query: { method: 'ext-jwt' }, headers })
  }
  return {
    enroll: async (process) => {
      await clientsOf(process).client.call('POST /enroll/token', { headers })
      return proof
    },
    own: proof,
    again: neverNeeded,
  }
}

function bySignerToCertificate(jwt: string): Attempt {
  return {
    enroll: async (process) => {
      const { csr } = await createSigningRequest('david')
      const request = { headers: { authorization: `Bearer ${jwt}` }, body: { clientCsr: csr } }
      const { data } = await clientsOf(process).client.call('POST /enroll/token', request)
      return holding(String(Reflect.get(data, 'cert')))
    },
    own: undefined,
    again: (process) => invitedAgain(process, 'david'),
  }
}

async function router({ management }: Admin, method: 'erott' | 'trott'): Promise<Attempt> {
  const body = { name: 'a router' }
  const made =
    method === 'erott'
      ? await management.call('POST /edge-routers', { body })
      : await management.call('POST /transit-routers', { body })
  const params = { id: made.data.id }
  const { data } =
    method === 'erott'
      ? await management.call('GET /edge-routers/{id}', { params })
      : await management.call('GET /transit-routers/{id}', { params })
  return routerBy(method, params.id, data.enrollmentToken ?? '')
}

function routerBy(method: 'erott' | 'trott', id: string, token: string): Attempt {
  return {
    enroll: async (process) => {
      const { clientCsrPem: certCsr, serverCsrPem: serverCertCsr } = await createRouterRequests(id, ['localhost'])
      const body = { certCsr, serverCertCsr }
      const { data } = await clientsOf(process).client.call('POST /enroll', { query: { method, token }, body })
      const cert = String(Reflect.get(data, 'cert'))
      return async (at) => {
        const { client } = clientsOf(at, undefined, certificatesIn(cert))
        await client.call('POST /enroll/extend/router', { body })
      }
    },
    own: undefined,
    again: async (process) => {
      const { management } = await administering(process)
      if (method === 'trott') {
        // The interface has no second invitation of a transit router: it is made anew.
        await management.call('DELETE /transit-routers/{id}', { params: { id } })
        return router(await administering(process), method)
      }
      await management.call('POST /edge-routers/{id}/re-enroll', { params: { id } })
      const { data } = await management.call('GET /edge-routers/{id}', { params: { id } })
      return routerBy(method, id, data.enrollmentToken ?? '')
    },
  }
}

function neverNeeded(): Promise<Attempt> {
  throw new Error('its credential is its own: it is let in by it, or enrolls by the same invitation')
}
