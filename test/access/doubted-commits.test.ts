import type { Storage } from 'portcullis'
import { SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { StorageUnavailable } from 'portcullis/storage'
import { createTestController, recordingLogger } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

const MODEL = {
  services: [{ name: 'wiki' }],
  identities: [{ name: 'laptop', type: 'Device' }],
  servicePolicies: [
    { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['@laptop'], serviceRoles: ['@wiki'] },
  ],
} as const

/** A network whose storage, when asked to, makes a commit and loses the answer. */
async function network() {
  const stored = memoryStorage()
  const state = { isLossy: false }
  const write: Storage['write'] = async (work) => {
    const answer = await stored.write(work)
    if (!state.isLossy) return answer
    state.isLossy = false
    throw new StorageUnavailable('unreachable', 'the connection was lost during the commit')
  }
  const storage = { ...stored, write }
  const net = await createTestController(await withSharedPki({ storage, model: MODEL, logger: recordingLogger() }))
  onTestFinished(() => net.close())
  const policy = async () => (await net.engine.servicePolicies.list(SYSTEM_CALL, {})).items[0]
  const sessions = async () => (await net.engine.sessions.list(SYSTEM_CALL, {})).items
  return { net, state, policy, sessions }
}

describe('a commit whose answer is lost', () => {
  it('ends the sessions of a policy that was deleted by it', async () => {
    const { net, state, policy, sessions } = await network()
    await net.as('laptop').dial('wiki')
    const id = (await policy())?.id ?? ''
    state.isLossy = true
    await expect(net.engine.servicePolicies.delete(SYSTEM_CALL, id)).rejects.toThrow('lost during the commit')
    expect(await policy()).toBeUndefined()
    await net.elapse(2000)
    expect(await sessions()).toEqual([])
  })

  it('ends the sessions of a policy whose term ended by it', async () => {
    const { net, state, policy, sessions } = await network()
    const until = new Date(net.clock.now() + 60_000).toISOString()
    await net.engine.servicePolicies.patch(SYSTEM_CALL, (await policy())?.id ?? '', { until })
    await net.as('laptop').dial('wiki')
    await net.elapse(59_000)
    state.isLossy = true
    await net.elapse(5000)
    expect(state.isLossy).toBe(false)
    expect((await policy())?.phase).toBe('over')
    expect(await sessions()).toEqual([])
  })

  it('ends the API sessions of an identity that was disabled by it', async () => {
    const { net, state } = await network()
    const laptop = net.as('laptop')
    await laptop.dial('wiki')
    const count = async () =>
      (await net.engine.apiSessions.list(SYSTEM_CALL, { filter: 'identity.name = "laptop"' })).items
    expect(await count()).toHaveLength(1)
    state.isLossy = true
    const disabled = net.engine.identities.disable(SYSTEM_CALL, laptop.id, { durationMinutes: 0 })
    await expect(disabled).rejects.toThrow('lost during the commit')
    await net.elapse(2000)
    expect(await count()).toEqual([])
  })
})
