import fc from 'fast-check'
import { expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { MortalIdentity } from './mortal-identity.ts'
import { anyFaultAt, faultsAt, type PlacedFault } from './placed-fault.ts'

const MINUTE_MS = 60_000
/** Steps by which two parties come to agree. */
const AGREEMENTS = ['/extend', '/extend-verify', 'keep', '/authenticate', '/oidc/login/cert', '/oidc/oauth/token']
const anyFault = anyFaultAt(AGREEMENTS)
const anyDeed = fc.constantFrom('call', 'renew', 'is asked to renew', 'waits', 'starts again')
const anySessions = fc.constantFrom('api-session', 'bearer')

const REFUSED_EXTENSION: PlacedFault = {
  place: { of: '/extend', at: 0 },
  way: 'fails',
  isDone: false,
  forMs: 1000,
}

type Deed = 'call' | 'renew' | 'is asked to renew' | 'waits' | 'starts again'

async function does(mortal: MortalIdentity, deed: Deed): Promise<void> {
  const identity = await mortal.identity()
  if (deed === 'call') await mortal.outcome(identity.client.call('GET /services'))
  if (deed === 'renew') await mortal.outcome(identity.renew(() => undefined))
  if (deed === 'waits') await mortal.elapse(25 * MINUTE_MS)
  if (deed === 'starts again') mortal.kill()
  if (deed === 'is asked to renew') {
    const { admin } = mortal.net
    const { data } = await admin.call('GET /authenticators', { query: { filter: 'method = "cert"' } })
    for (const { id } of data) {
      await admin.call('POST /authenticators/{id}/request-extend', { params: { id }, body: {} })
    }
  }
}

it(
  'an identity comes back, whatever call of its logins, refreshes and renewals fails, hangs or is its last',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anySessions,
        fc.boolean(),
        fc.array(anyDeed, { minLength: 1, maxLength: 4 }),
        fc.array(anyFault, { minLength: 1, maxLength: 4 }),
        async (sessions, isOld, deeds, faults) => {
          const mortal = await MortalIdentity.enroll(sessions, isOld)
          try {
            mortal.faultOf = faultsAt(faults)
            for (const deed of [...deeds, 'renew' as const]) await does(mortal, deed)
            mortal.faultOf = () => undefined
            await mortal.elapse(3 * MINUTE_MS)
            // The process that lives, or the next one, is let in.
            const living = await mortal.identity()
            expect(await mortal.outcome(living.client.call('GET /services'))).toBe('done')
            // So is one that starts from the file, and it renews.
            mortal.kill()
            const next = await mortal.identity()
            expect(await mortal.outcome(next.client.call('GET /services'))).toBe('done')
            expect(await mortal.outcome(next.renew(() => undefined))).toBe('done')
            expect(mortal.file.pending).toBeUndefined()
            mortal.kill()
            const last = await mortal.identity()
            expect(await mortal.outcome(last.client.call('GET /services'))).toBe('done')
          } finally {
            await mortal.close()
          }
        },
      ),
      {
        ...runs(200, 15),
        // A listener of the session that replaced a refused one began another session beside it.
        examples: [['bearer', false, ['call', 'renew', 'waits'], [REFUSED_EXTENSION]]],
      },
    )
  },
  patience(600_000),
)
