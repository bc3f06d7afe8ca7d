import fc from 'fast-check'
import { expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { type Fault, MortalIdentity } from './mortal-identity.ts'

const MINUTE_MS = 60_000
/** Steps by which two parties come to agree. */
const AGREEMENTS = ['/extend', '/extend-verify', 'keep', '/authenticate', '/oidc/login/cert', '/oidc/oauth/token']
/** A step by its number, or one of a kind. */
const anyPlace = fc.oneof(
  fc.record({ of: fc.constant(''), at: fc.nat(40) }),
  fc.record({ of: fc.constantFrom(...AGREEMENTS), at: fc.nat(2) }),
)
type PlacedFault = Fault & { readonly place: { readonly of: string; readonly at: number } }
const anyFault: fc.Arbitrary<PlacedFault> = fc.record({
  place: anyPlace,
  way: fc.constantFrom('fails', 'hangs', 'dies'),
  isDone: fc.boolean(),
  forMs: fc.constantFrom(1000, MINUTE_MS, Number.POSITIVE_INFINITY),
})
const anyDeed = fc.constantFrom('call', 'renew', 'is asked to renew', 'waits', 'starts again')
const anySessions = fc.constantFrom('api-session', 'bearer')

type Deed = 'call' | 'renew' | 'is asked to renew' | 'waits' | 'starts again'

/** Finds the fault of each step as it comes. */
function faultsAt(faults: readonly PlacedFault[]): MortalIdentity['faultOf'] {
  const left = faults.map((fault) => ({ fault, until: fault.place.at }))
  return ({ name }) => {
    let found: Fault | undefined
    for (const one of left.filter(({ fault }) => name.endsWith(fault.place.of))) {
      if (one.until === 0) found ??= one.fault
      one.until -= 1
    }
    return found
  }
}

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
      runs(200, 15),
    )
  },
  patience(600_000),
)
