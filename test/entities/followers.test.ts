import type { Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type ReadTransaction, StorageUnavailable } from 'portcullis/storage'
import { recordingLogger, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { credentialScript } from '../support/credential-script.ts'
import { listenToWrites } from '../support/heard-changes.ts'
import { networkScript } from '../support/network-script.ts'
import { authPolicy } from '../support/people.ts'
import { startNetwork } from '../support/scripted-network.ts'
import { servicePolicies, sessions as sessionRecords } from '../support/stored-records.ts'
import { world } from '../support/world.ts'

const credentials = await credentialScript()
const script = [...networkScript(), ...credentials.requests]

describe('what follows from a write', () => {
  it(`follows from every write of ${script.length} requests: a follower hears all that the storage tells of`, async () => {
    const network = await startNetwork(memoryStorage(), credentials.places)
    const changes = await listenToWrites(network.controller)
    let writes = 0
    for (const request of script) {
      const { status } = await network.send(await network.resolve(request))
      await network.elapse(60_000)
      const { heard, told } = await changes()
      expect(status, `${request.method} ${request.path}`).toBeLessThan(300)
      expect(heard, `${request.method} ${request.path}`).toEqual(told)
      if (told.length > 0) writes += 1
    }
    expect(writes).toBeGreaterThan(100)
    await network.close()
  }, 60_000)
})

/** alice dials web by one policy. */
async function dialed(options?: TestControllerOptions) {
  const here = await world(options)
  const web = await here.service('web', ['apps'])
  const policyId = await here.policy('people', { identityRoles: ['#people'], serviceRoles: ['#apps'] })
  const alice = await here.person('alice', ['people'])
  const session = await here.open(alice, web)
  return { ...here, alice, policyId, session }
}

const fails = (): never => {
  throw new Error('somebody else failed')
}

describe('a change takes sessions away, before its writer is answered, although', () => {
  it('every listener of the host throws, or rejects', async () => {
    const logger = recordingLogger()
    const { controller, admin, policyId, sessions } = await dialed({ logger })
    controller.events.on('entity.changed', fails)
    controller.events.on('session.ended', () => Promise.reject(new Error('somebody else failed')))
    await admin.call('DELETE /service-policies/{id}', { params: { id: policyId } })
    expect(await sessions()).toEqual([])
    expect(logger.entries.map(({ message }) => message)).toContain('an event listener failed')
  })

  it('the telemetry of the host throws whatever it is told, and /metrics goes on counting', async () => {
    const logger = recordingLogger()
    const span = { matched: fails, answered: fails }
    const telemetry: NonNullable<TestControllerOptions['telemetry']> = {
      record: fails,
      observe: () => () => undefined,
      trace: (_request, answer) => answer(span),
    }
    const { controller, admin, policyId, sessions } = await dialed({ logger, telemetry, probes: true })
    await admin.call('DELETE /service-policies/{id}', { params: { id: policyId } })
    expect(await sessions()).toEqual([])
    const metrics = await controller.fetch(new Request('https://controller.test/metrics'))
    expect(await metrics.text()).toMatch(/portcullis_sessions_ended_total\{[^}]*\} 1/)
    expect(logger.entries.map(({ message }) => message)).toContain('a figure could not be given on')
  })

  it('readers of the timeline went away in the midst of it', async () => {
    const { controller, admin, policyId, sessions } = await dialed()
    const token = (await admin.call('GET /current-api-session')).data.token
    const headers = { 'zt-session': token, accept: 'text/event-stream' }
    const stream = await controller.fetch(new Request('https://controller.test/portcullis/v1/events', { headers }))
    controller.events.on('entity.changed', () => void stream.body?.cancel('gone'))
    await admin.call('DELETE /service-policies/{id}', { params: { id: policyId } })
    expect(await sessions()).toEqual([])
  })

  it('what else follows from it fails: that is told to the writer', async () => {
    const memory = memoryStorage()
    let isAway = false
    const { admin, alice, sessions } = await dialed({ storage: withoutSearch(memory, 'api-sessions', () => isAway) })
    const { data: policy } = await admin.call('POST /auth-policies', {
      body: authPolicy('no passwords', { allowed: false }),
    })
    isAway = true
    // API sessions of a changed auth policy are looked for first, and that is what fails.
    const body = { authPolicyId: policy.id, roleAttributes: [] }
    await expect(admin.call('PATCH /identities/{id}', { params: { id: alice.id }, body })).rejects.toThrow()
    expect(await sessions()).toEqual([])
  })
})

it('what took sessions away is told before them, and when it is told they are gone', async () => {
  const { controller, admin, policyId, session } = await dialed()
  const told: string[] = []
  const looks: Promise<unknown>[] = []
  controller.events.on('entity.changed', ({ kind, operation }) => {
    told.push(`${operation} ${kind}`)
    const look = (tx: ReadTransaction) => tx.collection(sessionRecords).get(session)
    if (kind === servicePolicies.name) looks.push(controller.storage.read(look))
  })
  controller.events.on('access.changed', ({ change }) => told.push(`access ${change}`))
  controller.events.on('session.ended', () => told.push('session ended'))
  await admin.call('DELETE /service-policies/{id}', { params: { id: policyId } })
  expect(told).toEqual(['delete service-policies', 'delete sessions', 'session ended', 'access lost'])
  expect(await Promise.all(looks)).toEqual([undefined])
})

/** A storage that refuses to search one kind while `isAway` says so. */
function withoutSearch(storage: Storage, kind: string, isAway: () => boolean): Storage {
  return {
    ...storage,
    read: (work, options) =>
      storage.read((tx) => {
        const collection: ReadTransaction['collection'] = (of) => {
          const found = tx.collection(of)
          if (of.name !== kind) return found
          const findIds: typeof found.findIds = (query) =>
            isAway() ? Promise.reject(new StorageUnavailable('unreachable', 'away')) : found.findIds(query)
          return { get: found.get.bind(found), find: found.find.bind(found), scan: found.scan.bind(found), findIds }
        }
        const { revision } = tx
        return work({ revision, changesSince: (since) => tx.changesSince(since), collection })
      }, options),
  }
}
