import { SYSTEM_CALL } from 'portcullis'
import { createTestController } from 'portcullis/testing'
import { afterEach, expect, it, vi } from 'vitest'
// Internals: the turns of the event loop, which the test counts.
import { LoopTurns } from '../../src/concurrency/loop-turns.ts'
import { adminToken } from '../support/delegate.ts'

const PAGE = 500
/** The most entities that are rendered, and written, without a look at the clock. */
const MOST_AT_ONCE = 50

afterEach(() => vi.restoreAllMocks())

it.each(['identities', 'services'])('a page of 500 %s is rendered and written a slice at a time', async (kind) => {
  const controller = await createTestController()
  const token = await adminToken(controller)
  for (let number = 0; number < PAGE; number += 1) {
    if (kind === 'services')
      await controller.engine.services.create(SYSTEM_CALL, { name: `s${number}`, encryptionRequired: false })
    else await controller.engine.identities.create(SYSTEM_CALL, { name: `i${number}`, type: 'Device', isAdmin: false })
  }
  let looks = 0
  const { begin } = LoopTurns.prototype
  vi.spyOn(LoopTurns.prototype, 'begin').mockImplementation(function (this: LoopTurns) {
    const turn = begin.call(this)
    return () => {
      looks += 1
      return turn()
    }
  })
  const url = `https://controller.test/edge/management/v1/${kind}?limit=${PAGE}`
  const answer = await controller.fetch(new Request(url, { headers: { 'zt-session': token } }))
  expect(JSON.parse(await answer.text()).data).toHaveLength(PAGE)
  expect(looks).toBeGreaterThanOrEqual((2 * PAGE) / MOST_AT_ONCE)
  await controller.close()
})
