import fc from 'fast-check'
import { expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { MortalRouter } from './mortal-router.ts'
import { anyFaultAt, faultsAt } from './placed-fault.ts'

const HOUR_MS = 3_600_000
/** Steps by which a router and its controller come to agree on its certificates. */
const AGREEMENTS = ['extend-certificates', 'confirm-certificate', 'keep', 'connect']
const anyDeed = fc.constantFrom('waits', 'waits long', 'loses its controller', 'starts again', 'is started to renew')

/** Lets time pass until something holds, two hours at most: keys are made in real time. */
async function until(router: MortalRouter, holds: () => boolean): Promise<void> {
  for (let minute = 0; minute < 120 && !holds(); minute += 1) await router.elapse(60_000)
  expect(holds()).toBe(true)
}

it(
  'a router is let in, and renews, whatever message or write of its renewal fails, hangs or is its last',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(anyDeed, { minLength: 1, maxLength: 4 }),
        fc.array(anyFaultAt(AGREEMENTS), { minLength: 1, maxLength: 4 }),
        async (isOld, deeds, faults) => {
          const router = await MortalRouter.enroll(isOld)
          try {
            router.faultOf = faultsAt(faults)
            for (const deed of deeds) {
              if (deed === 'starts again' || deed === 'is started to renew') router.kill()
              router.start(deed === 'is started to renew')
              if (deed === 'loses its controller') router.loseController()
              await router.elapse(deed === 'waits long' ? 2 * HOUR_MS : 60_000)
            }
            router.faultOf = () => undefined
            // The process that lives comes back, and what it began comes to its end.
            // A disk that never answers a process keeps nothing of it any more.
            if (faults.some(({ way, forMs }) => way === 'hangs' && forMs === Number.POSITIVE_INFINITY)) router.kill()
            router.start(false)
            await until(router, () => router.isConnected && router.file.pending === undefined)
            // The next one is let in by what is in the file, and renews.
            router.kill()
            const before = router.file.clientCert
            router.start(true)
            await until(router, () => router.file.pending === undefined && router.file.clientCert !== before)
            expect(router.isConnected).toBe(true)
          } finally {
            await router.close()
          }
        },
      ),
      runs(200, 3),
    )
  },
  patience(600_000),
)
