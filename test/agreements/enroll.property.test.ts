import fc from 'fast-check'
import { enrollDevice, openIdentity } from 'portcullis/sdk'
import { createTestController, type ListeningController, type TestController } from 'portcullis/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { enrollRouter } from '../../adapters/network/router/control/enrolled-router.ts'
import { day, type Issued, issueAuthority, issueClient, keyPemOf, pemOf } from '../support/certificates/certificates.ts'
import { patience, runs } from '../support/property-runs.ts'
import { TRUSTED } from '../support/third-party.ts'
import { type FailingGate, failingGate } from './failing-gate.ts'

/** Milliseconds for an enrollment that is not disturbed on a busy machine, and for one that is. */
const TIMES = { whole: 20_000, disturbed: 400 }
const METHODS = ['ott', 'ottca', 'ca', 'erott'] as const

/** A device or router that enrolls by a token, as often as it likes. */
interface Enrolling {
  /** Resolves with a proof that it is enrolled, which rejects where it is not let in. */
  enroll(timeoutMs: number): Promise<() => Promise<void>>
  /** Lets it enroll by another token. */
  inviteAgain(): Promise<void>
  /** Whether the token may be used up without a trace at the device. */
  readonly losesKey: boolean
}

let net: TestController
let server: ListeningController
let gate: FailingGate
let authority: Issued
let caId: string

const validity = () => ({ notBefore: Date.now() - day, notAfter: Date.now() + day })

async function thirdParty(subject: string) {
  const issued = await issueClient({ subject: `CN=${subject}`, issuer: authority, ...validity() })
  return { cert: pemOf(issued), key: await keyPemOf(issued.keys) }
}

beforeAll(async () => {
  net = await createTestController({ clock: 'live' })
  server = await net.listen()
  gate = await failingGate(server.port)
  net.changeAddress(`localhost:${gate.port}`)
  authority = await issueAuthority({ subject: 'CN=third party', ...validity() })
  const body = { name: 'third party', certPem: pemOf(authority), ...TRUSTED }
  caId = (await net.admin.call('POST /cas', { body })).data.id
  const { verificationToken } = (await net.admin.call('GET /cas/{id}', { params: { id: caId } })).data
  const { cert } = await thirdParty(verificationToken ?? '')
  await net.admin.call('POST /cas/{id}/verify', { params: { id: caId }, body: cert })
})
afterAll(async () => {
  await gate.close()
  await net.close()
})

let count = 0

async function enrolling(method: (typeof METHODS)[number]): Promise<Enrolling> {
  count += 1
  const name = `${method} ${count}`
  if (method === 'erott') return router(name)
  const credentials = method === 'ott' ? undefined : await thirdParty(name)
  let jwt = await tokenOf(method, name)
  return {
    enroll: async (timeoutMs) => {
      const device = await enrollDevice({ jwt, timeoutMs, ...(credentials && { credentials }) })
      return async () => {
        await using identity = await openIdentity(device)
        const { data } = await identity.client.call('GET /current-identity')
        expect(data.name).toContain(name)
      }
    },
    inviteAgain: async () => {
      jwt = (await net.invite(name, { again: true })).jwt
    },
    losesKey: method === 'ott',
  }
}

async function tokenOf(method: 'ott' | 'ottca' | 'ca', name: string): Promise<string> {
  const { admin } = net
  if (method === 'ca') return (await admin.call('GET /cas/{id}/jwt', { params: { id: caId } })) as unknown as string
  const enrollment = method === 'ott' ? { ott: true } : { ottca: caId }
  const body = { name, type: 'Device' as const, isAdmin: false, enrollment }
  const { id } = (await admin.call('POST /identities', { body })).data
  const shown = (await admin.call('GET /identities/{id}', { params: { id } })).data.enrollment
  return shown[method]?.jwt ?? ''
}

async function router(name: string): Promise<Enrolling> {
  let { id, jwt } = await net.inviteRouter(name)
  return {
    enroll: async (timeoutMs) => {
      const { clientCert } = await enrollRouter(jwt, ['localhost'], timeoutMs)
      return async () => {
        const { data } = await net.admin.call('GET /edge-routers/{id}', { params: { id } })
        expect(data.isVerified).toBe(true)
        expect(clientCert).toContain(String(data.certPem).trim().slice(0, 200))
      }
    },
    inviteAgain: async () => {
      jwt = (await net.inviteRouter(name, { again: true })).jwt
    },
    losesKey: true,
  }
}

const anyFault = fc.record({
  connection: fc.nat(4),
  afterPieces: fc.nat(4),
  way: fc.constantFrom('fails' as const, 'hangs' as const),
})

it(
  'a device or router enrolls, or both sides know that it did not, wherever its connections are cut or go silent',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...METHODS),
        fc.array(anyFault, { minLength: 1, maxLength: 3 }),
        async (method, faults) => {
          const device = await enrolling(method)
          gate.plan(faults)
          const isDisturbed = faults.some(({ way }) => way === 'hangs')
          const first = await device
            .enroll(isDisturbed ? TIMES.disturbed : TIMES.whole)
            .catch((error: unknown) => error)
          gate.plan([])
          if (typeof first === 'function') return first()
          expect(first).toMatchObject({ message: expect.any(String) })
          const second = await device.enroll(TIMES.whole).catch((error: unknown) => error)
          if (typeof second === 'function') return second()
          // Its token was used up, and the answer was lost. The controller says so.
          expect(device.losesKey).toBe(true)
          expect(second).toMatchObject({ message: expect.stringContaining('token is not valid') })
          await device.inviteAgain()
          await (await device.enroll(TIMES.whole))()
        },
      ),
      runs(200, 4),
    )
  },
  patience(600_000),
)
