import { expect, it, onTestFinished } from 'vitest'
import { MortalRouter } from './mortal-router.ts'

const MINUTE_MS = 60_000

it('a router that is asked to renew while it confirms what was issued before renews within the minute', async () => {
  const router = await MortalRouter.enroll(false)
  onTestFinished(() => router.close())
  // It dies with a certificate that no controller has confirmed.
  router.faultOf = ({ name }) => (name === 'keep' ? { way: 'dies', isDone: true, forMs: 0 } : undefined)
  router.start(true)
  for (let turn = 0; turn < 20 && router.file.pending === undefined; turn += 1) await router.elapse(1000)
  expect(router.file.pending).toHaveLength(1)
  const asked: string[] = []
  router.faultOf = ({ name }) => {
    asked.push(name)
    return name === 'confirm-certificate' ? { way: 'hangs', isDone: true, forMs: 10_000 } : undefined
  }
  // The controller does not take the pending certificate for confirmed before it hears of it.
  router.start(false)
  for (let turn = 0; turn < 20 && !asked.includes('confirm-certificate'); turn += 1) await router.elapse(100)
  router.askToRenew('another authority')
  await router.elapse(MINUTE_MS)
  await router.elapse(MINUTE_MS)
  expect(asked).toContain('extend-certificates')
})
