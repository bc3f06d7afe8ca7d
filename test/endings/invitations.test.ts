import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCsrPem } from '../support/certificates/certificates.ts'
import { clientOf } from '../support/third-party.ts'
import { type Answered, PROCESSES, type Process, startTwo, type TwoProcesses } from './two-processes.ts'
import { buildNetwork, signedBy } from './ways.ts'

const CLIENT_API = '/edge/client/v1'
const network = await buildNetwork()

/** Somebody who is invited, and redeems the invitation at one of the processes. */
interface Invited {
  readonly id: string
  redeem(at: Process): Promise<Answered>
}

type Method = 'ott' | 'updb' | 'ottca' | 'ca' | 'token' | 'erott'

async function identityWith(by: Process, name: string, enrollment: object) {
  const id = await by.create('/identities', { name, type: 'User', isAdmin: false, enrollment })
  return { id, shown: (await by.told('GET', `/identities/${id}`)).enrollment }
}

/** Invites somebody by each method; what cannot be invited, because it comes by itself, is only redeemed. */
const INVITE: Readonly<Record<Method, (by: Process, name: string, now: () => number) => Promise<Invited>>> = {
  ott: async (by, name) => {
    const { id, shown } = await identityWith(by, name, { ott: true })
    const json = { token: shown.ott.token, clientCsr: await createCsrPem() }
    return { id, redeem: (at) => at.ask('POST', `${CLIENT_API}/enroll/ott`, { json }) }
  },
  updb: async (by, name) => {
    const { id, shown } = await identityWith(by, name, { updb: name })
    const json = { password: 'Correct-Horse-1' }
    return { id, redeem: (at) => at.ask('POST', `${CLIENT_API}/enroll/updb?token=${shown.updb.token}`, { json }) }
  },
  ottca: async (by, name) => {
    const { id, shown } = await identityWith(by, name, { ottca: network.ca.id })
    const certificate = await clientOf(network.ca.authority, name)
    const json = { token: shown.ottca.token }
    return { id, redeem: (at) => at.ask('POST', `${CLIENT_API}/enroll/ottca`, { json, certificate }) }
  },
  ca: async (_by, name) => {
    const certificate = await clientOf(network.ca.authority, name)
    return { id: '', redeem: (at) => at.ask('POST', `${CLIENT_API}/enroll?method=ca`, { json: {}, certificate }) }
  },
  token: async (_by, name, now) => ({
    id: '',
    redeem: async (at) => {
      const bearers = [await signedBy(network.signer, name, now())]
      return at.ask('POST', `${CLIENT_API}/enroll/token`, { json: {}, bearers })
    },
  }),
  erott: async (by, name) => {
    const id = await by.create('/edge-routers', { name })
    const { enrollmentToken } = await by.told('GET', `/edge-routers/${id}`)
    const csr = await createCsrPem({ subject: `CN=${id}` })
    const json = { certCsr: csr, serverCertCsr: csr }
    return {
      id,
      redeem: (at) => at.ask('POST', `${CLIENT_API}/enroll?method=erott&token=${enrollmentToken}`, { json }),
    }
  },
}

const OTHERS: readonly Method[] = ['ott', 'updb', 'ottca']
const HOURS_MS = 4 * 3_600_000

/** How an invitation ends, and which. */
const ENDINGS: readonly (readonly [
  string,
  readonly Method[],
  (by: Process, who: Invited, two: TwoProcesses) => Promise<unknown>,
])[] = [
  ['the identity is deleted', OTHERS, (by, { id }) => by.told('DELETE', `/identities/${id}`)],
  [
    'the enrollment is deleted',
    OTHERS,
    async (by, { id }) => {
      const [enrollment] = await by.told('GET', `/identities/${id}/enrollments`)
      await by.told('DELETE', `/enrollments/${enrollment.id}`)
    },
  ],
  ['its time is over', [...OTHERS, 'erott'], (_by, _who, two) => two.elapse(HOURS_MS)],
  ['the CA is deleted', ['ottca', 'ca'], (by) => by.told('DELETE', `/cas/${network.ca.id}`)],
  [
    'the CA invites nobody any more',
    ['ottca'],
    (by) => by.told('PATCH', `/cas/${network.ca.id}`, { isOttCaEnrollmentEnabled: false }),
  ],
  [
    'the CA enrolls nobody by itself any more',
    ['ca'],
    (by) => by.told('PATCH', `/cas/${network.ca.id}`, { isAutoCaEnrollmentEnabled: false }),
  ],
  [
    'the signer is disabled',
    ['token'],
    (by) => by.told('PATCH', `/external-jwt-signers/${network.signer.id}`, { enabled: false }),
  ],
  [
    'the signer enrolls nobody any more',
    ['token'],
    (by) => by.told('PATCH', `/external-jwt-signers/${network.signer.id}`, { enrollToTokenEnabled: false }),
  ],
  ['the signer is deleted', ['token'], (by) => by.told('DELETE', `/external-jwt-signers/${network.signer.id}`)],
  ['the router is deleted', ['erott'], (by, { id }) => by.told('DELETE', `/edge-routers/${id}`)],
  ['the router is sent to enroll again', ['erott'], (by, { id }) => by.told('POST', `/edge-routers/${id}/re-enroll`)],
]

describe('an invitation', () => {
  let two: TwoProcesses
  beforeAll(async () => {
    two = await startTwo(await network.store.fork(), network.pki, network.startsAt)
    await two.A.told('PATCH', `/external-jwt-signers/${network.signer.id}`, {
      enrollToTokenEnabled: true,
      enrollNameClaimsSelector: '/sub',
    })
  })
  afterAll(() => two.close())

  /** Both processes over what there is now, so that what one test ends is there for the next. */
  async function forked(): Promise<TwoProcesses> {
    return startTwo(await two.store.fork(), network.pki, network.startsAt)
  }

  it.each(Object.entries(INVITE))('by %s is good at either process while nothing ends', async (method, invite) => {
    const own = await forked()
    for (const at of PROCESSES) {
      const who = await invite(own.A, `${method}-${at}`, () => own.now())
      expect([200, 201], `at ${at}`).toContain((await who.redeem(own[at])).status)
    }
    await own.close()
  })

  const cases = ENDINGS.flatMap(([name, methods, end]) => methods.map((method) => [name, method, end] as const))
  it.each(cases)('ends when %s (%s), at the process where it does and at the other', async (_name, method, end) => {
    const own = await forked()
    const who = await INVITE[method](own.A, 'invited', () => own.now())
    await end(own.B, who, own)
    for (const at of PROCESSES) {
      const { status, body } = await who.redeem(own[at])
      expect(status >= 400 && status < 500, `at ${at}: ${status} ${JSON.stringify(body)}`).toBe(true)
    }
    await own.close()
  })
})
