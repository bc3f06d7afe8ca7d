import 'reflect-metadata'
import fc from 'fast-check'
import { createPkiMaterial } from 'portcullis'
import { createTestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { adminOf, CLIENT, type ForeignClient, foreignClient, read } from '../contract/http/foreign-client.ts'
import type { ClientCertificate } from '../contract/http/mount.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { mountOf } from '../support/mount.ts'
import { person } from '../support/people.ts'
import { times } from '../support/property-runs.ts'
import { clientOf, newAuthority, now, registered } from '../support/third-party.ts'
import { totp, wrongCode } from '../support/totp.ts'
import { type Code, CredentialModel } from './credential-model.ts'

/** Sequences. */
const RUNS = times(300, 75)
const MINUTE_MS = 60_000

const session = fc.nat(3)
const code = fc.constantFrom<Code>('right', 'right', 'wrong', 'recovery')
const span = fc.constantFrom(1000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 31 * MINUTE_MS)

const command = fc.oneof(
  fc.record({ do: fc.constant('wait' as const), ms: span }),
  fc.record({ do: fc.constantFrom('login' as const, 'disable' as const, 'enable' as const, 'removeMfa' as const) }),
  fc.record({ do: fc.constantFrom('login' as const, 'enable' as const) }),
  fc.record({ do: fc.constantFrom('end' as const, 'look' as const, 'act' as const, 'beginMfa' as const), session }),
  fc.record({ do: fc.constantFrom('verifyMfa' as const, 'passMfa' as const, 'endMfa' as const), session, code }),
  fc.record({ do: fc.constant('beginMfa' as const), session }),
  fc.record({ do: fc.constantFrom('invite' as const, 'refresh' as const), ms: span }),
  fc.record({ do: fc.constant('enroll' as const), isCurrentToken: fc.boolean() }),
  fc.record({
    do: fc.constant('certificateLogin' as const),
    which: fc.constantFrom('current' as const, 'previous' as const, 'next' as const),
  }),
  fc.record({ do: fc.constant('extend' as const) }),
  fc.record({ do: fc.constant('confirm' as const), isNext: fc.boolean() }),
  fc.record({ do: fc.constant('verifyCa' as const), isRight: fc.boolean() }),
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

// Made once: keys and certificates cost more than what is tested.
const key = newKey()
const csr = signingRequest(key)
const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'trust.example', now })
const authority = await newAuthority('third party')

/** One identity and one CA behind a real controller; each command answers the status that it saw. */
async function world() {
  const mounted = mountOf(await createTestController({ now, pki }))
  const admin = await adminOf(mounted)
  const alice = await person(mounted, admin, 'alice')
  const caId = await registered(admin, authority, {}, false)
  const { verificationToken } = await read(admin, `/cas/${caId}`)
  const clients: ForeignClient[] = []
  let secret = ''
  let recoveryCodes: string[] = []
  let enrollmentId = 'none'
  let [current, former] = ['none', 'none']
  const certificates: Partial<Record<'current' | 'previous' | 'next', ClientCertificate>> = {}

  const client = (index: number) => clients[index] ?? foreignClient(mounted, CLIENT, 'none')
  const asAdmin = async () => adminOf(mounted)
  const statusOf = async (answer: Promise<{ readonly status: number }>) => (await answer).status
  const codeOf = (kind: Code) => {
    if (kind === 'recovery') return recoveryCodes[0] ?? 'NOCODENONE'
    return kind === 'right'
      ? totp(secret || 'AAAA', mounted.clock.now())
      : wrongCode(secret || 'AAAA', mounted.clock.now())
  }
  const used = (kind: Code, status: number) => {
    if (kind === 'recovery' && status === 200) recoveryCodes = recoveryCodes.slice(1)
    return status
  }
  const noteToken = async () => {
    former = current
    current = (await read(await asAdmin(), `/enrollments/${enrollmentId}`)).token
  }
  const bare = (certificate?: ClientCertificate) => foreignClient(mounted, CLIENT, undefined, certificate)
  const certificateLogin = (certificate?: ClientCertificate) => bare(certificate).post('/authenticate?method=cert', {})
  /** The client API with the current certificate on the connection, in a session of its own, and its authenticator. */
  const holder = async () => {
    const answer = await certificateLogin(certificates.current)
    if (answer.status !== 200) return { status: answer.status }
    const api = foreignClient(mounted, CLIENT, answer.body.data.token, certificates.current)
    const { authenticatorId } = answer.body.data
    return { status: 200, api, path: `/current-identity/authenticators/${authenticatorId}` }
  }

  const run = async (asked: Command): Promise<number> => {
    switch (asked.do) {
      case 'wait':
        mounted.clock.advance(asked.ms)
        await new Promise((resolve) => setImmediate(resolve))
        return 0
      case 'login': {
        const answer = await bare().post('/authenticate?method=password', alice)
        if (answer.status === 200) clients.push(foreignClient(mounted, CLIENT, answer.body.data.token))
        return answer.status
      }
      case 'disable':
        return statusOf((await asAdmin()).post(`/identities/${alice.id}/disable`, { durationMinutes: 0 }))
      case 'enable':
        return statusOf((await asAdmin()).send('POST', `/identities/${alice.id}/enable`))
      case 'removeMfa':
        return statusOf((await asAdmin()).delete(`/identities/${alice.id}/mfa`))
      case 'end':
        return statusOf(client(asked.session).delete('/current-api-session'))
      case 'look':
        return statusOf(client(asked.session).get('/current-api-session'))
      case 'act':
        return statusOf(client(asked.session).get('/current-identity'))
      case 'beginMfa': {
        const api = client(asked.session)
        const { status } = await api.post('/current-identity/mfa')
        if (status === 201) {
          const shown = await read(api, '/current-identity/mfa')
          secret = new URL(shown.provisioningUrl).searchParams.get('secret') ?? ''
          recoveryCodes = shown.recoveryCodes
        }
        return status
      }
      case 'verifyMfa': {
        const body = { code: codeOf(asked.code) }
        return statusOf(client(asked.session).post('/current-identity/mfa/verify', body))
      }
      case 'passMfa': {
        const body = { code: codeOf(asked.code) }
        return used(asked.code, await statusOf(client(asked.session).post('/authenticate/mfa', body)))
      }
      case 'endMfa': {
        const headers = { 'mfa-validation-code': codeOf(asked.code) }
        return statusOf(client(asked.session).send('DELETE', '/current-identity/mfa', { headers }))
      }
      case 'invite': {
        const expiresAt = new Date(mounted.clock.now() + asked.ms).toISOString()
        const body = { identityId: alice.id, method: 'ott', expiresAt }
        const answer = await (await asAdmin()).post('/enrollments', body)
        if (answer.status !== 201) return answer.status
        enrollmentId = answer.body.data.id
        await noteToken()
        return answer.status
      }
      case 'refresh': {
        const expiresAt = new Date(mounted.clock.now() + asked.ms).toISOString()
        const { status } = await (await asAdmin()).post(`/enrollments/${enrollmentId}/refresh`, { expiresAt })
        if (status === 200) await noteToken()
        return status
      }
      case 'enroll': {
        const token = asked.isCurrentToken ? current : former
        const answer = await bare().post('/enroll/ott', { token, clientCsr: csr })
        if (answer.status === 200) {
          delete certificates.previous
          delete certificates.next
          certificates.current = { cert: answer.body.data.cert, key }
        }
        return answer.status
      }
      case 'certificateLogin':
        return statusOf(certificateLogin(certificates[asked.which]))
      case 'extend': {
        const { status, api, path } = await holder()
        if (api === undefined) return status
        const answer = await api.post(`${path}/extend`, { clientCertCsr: csr })
        if (answer.status === 200) certificates.next = { cert: answer.body.data.clientCert, key }
        return answer.status
      }
      case 'confirm': {
        const { status, api, path } = await holder()
        if (api === undefined) return status
        const shown = asked.isNext ? certificates.next : certificates.current
        const body = { clientCert: shown?.cert ?? certificates.current?.cert }
        const answer = await api.post(`${path}/extend-verify`, body)
        if (answer.status === 200) {
          Object.assign(certificates, { previous: certificates.current, current: certificates.next })
          delete certificates.next
        }
        return answer.status
      }
      case 'verifyCa': {
        const { cert: body } = await clientOf(authority, asked.isRight ? verificationToken : 'another')
        const headers = { 'content-type': 'text/plain' }
        return statusOf((await asAdmin()).send('POST', `/cas/${caId}/verify`, { body, headers }))
      }
    }
  }
  return { run, close: () => mounted.dispose() }
}

function predict(model: CredentialModel, asked: Command): number {
  switch (asked.do) {
    case 'wait':
      model.now += asked.ms
      return 0
    case 'login':
    case 'disable':
    case 'enable':
    case 'removeMfa':
    case 'extend':
      return model[asked.do]()
    case 'end':
    case 'look':
    case 'act':
    case 'beginMfa':
      return model[asked.do](asked.session)
    case 'verifyMfa':
    case 'passMfa':
    case 'endMfa':
      return model[asked.do](asked.session, asked.code)
    case 'invite':
    case 'refresh':
      return model[asked.do](asked.ms)
    case 'enroll':
      return model.enroll(asked.isCurrentToken)
    case 'certificateLogin':
      return model.certificateLogin(asked.which)
    case 'confirm':
      return model.confirm(asked.isNext)
    case 'verifyCa':
      return model.verifyCa(asked.isRight)
  }
}

it(`credentials behave as their model, in ${RUNS} sequences of commands`, {
  timeout: 60_000 + RUNS * 1000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40, size: 'max' }), async (commands) => {
      const { run, close } = await world()
      const model = new CredentialModel(now)
      const seen: string[] = []
      for (const asked of commands) {
        const expected = predict(model, asked)
        const status = await run(asked)
        seen.push(`${JSON.stringify(asked)} ${status}`)
        expect(status, `expected ${expected} at the end of\n${seen.join('\n')}`).toBe(expected)
      }
      await close()
    }),
    { numRuns: RUNS, endOnFailure: false },
  )
})
