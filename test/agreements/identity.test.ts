import { describe, expect, it, onTestFinished } from 'vitest'
import { type Fault, MortalIdentity, type Step } from './mortal-identity.ts'

const MINUTE_MS = 60_000
const TOKENS = 'POST /oidc/oauth/token'
const FAILS: Fault = { way: 'fails', isDone: false, forMs: 0 }

async function enrolled(sessions: 'api-session' | 'bearer'): Promise<MortalIdentity> {
  const mortal = await MortalIdentity.enroll(sessions, false)
  onTestFinished(() => mortal.close())
  return mortal
}

async function sessionOf(mortal: MortalIdentity) {
  const { client } = await mortal.identity()
  let id: string | undefined
  const asked = client.call('GET /current-api-session').then(({ data }) => {
    id = data.id
  })
  expect(await mortal.outcome(asked)).toBe('done')
  return id
}

describe('the session of an identity', () => {
  it('is refreshed after controllers were away when that was due, at the first that is back', async () => {
    const mortal = await enrolled('bearer')
    const before = await sessionOf(mortal)
    const tried: Step[] = []
    let awayUntil = Number.POSITIVE_INFINITY
    mortal.faultOf = (step) => {
      if (step.name !== TOKENS) return undefined
      const now = mortal.net.clock.now()
      if (tried.length === 0) awayUntil = now + 20_000
      tried.push(step)
      return now < awayUntil || step.origin.includes('controller.test') ? FAILS : undefined
    }
    await mortal.elapse(27 * MINUTE_MS)
    expect(new Set(tried.map(({ origin }) => origin)).size).toBe(2)
    expect(tried.length).toBeGreaterThan(4)
    // It is asked no more once it has what it wants, and the session is the same.
    expect(tried.at(-1)?.origin).toContain('other.test')
    expect(await sessionOf(mortal)).toBe(before)
  })

  it.each(['api-session', 'bearer'] as const)(
    'goes on at another controller when one is away for a moment, and is asked there from then on: %s',
    async (sessions) => {
      const mortal = await enrolled(sessions)
      const before = await sessionOf(mortal)
      const steps: Step[] = []
      mortal.faultOf = (step) => {
        steps.push(step)
        return step.origin.includes('controller.test') ? FAILS : undefined
      }
      expect(await sessionOf(mortal)).toBe(before)
      mortal.faultOf = (step) => void steps.push(step)
      expect(await sessionOf(mortal)).toBe(before)
      const question = 'GET /edge/client/v1/current-api-session'
      expect(steps.map(({ name }) => name)).toEqual([question, question, question])
      expect(steps.at(-1)?.origin).toContain('other.test')
    },
  )

  it('is begun anew where controllers refuse to carry it on', async () => {
    const mortal = await enrolled('bearer')
    const before = await sessionOf(mortal)
    await mortal.net.admin.call('DELETE /api-sessions/{id}', { params: { id: before ?? '' } })
    await mortal.elapse(27 * MINUTE_MS)
    const steps: string[] = []
    mortal.faultOf = ({ name }) => void steps.push(name)
    expect(await sessionOf(mortal)).not.toBe(before)
    // There was a session already when it was asked for.
    expect(steps).toEqual(['GET /edge/client/v1/current-api-session'])
  })

  it('is begun anew once for all calls that find its end', async () => {
    const mortal = await enrolled('api-session')
    const params = { id: (await sessionOf(mortal)) ?? '' }
    await mortal.net.admin.call('DELETE /api-sessions/{id}', { params })
    const { client } = await mortal.identity()
    const steps: string[] = []
    mortal.faultOf = ({ name }) => void steps.push(name)
    const calls = [1, 2, 3].map(() => client.call('GET /services'))
    expect(await mortal.outcome(Promise.all(calls))).toBe('done')
    expect(steps.filter((name) => name.endsWith('/authenticate'))).toHaveLength(1)
  })

  it.each(['api-session', 'bearer'] as const)(
    'does not wait for ever for a login that is not answered: %s',
    async (sessions) => {
      const mortal = await enrolled(sessions)
      mortal.faultOf = ({ number }) => (number === 0 ? { way: 'hangs', isDone: false, forMs: Infinity } : undefined)
      const begun = mortal.net.clock.now()
      expect(await sessionOf(mortal)).toBeDefined()
      expect(mortal.net.clock.now() - begun).toBeLessThan(40_000)
    },
  )
})
