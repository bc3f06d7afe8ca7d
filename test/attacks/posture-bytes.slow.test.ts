import type { Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { emptyPostureData } from 'portcullis/policy'
import type { RecordKind } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { expectFieldError } from '../contract/http/errors.ts'
import { create, type ForeignClient, read } from '../contract/http/foreign-client.ts'
import { network as smallNetwork } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'
import { network } from '../support/network.ts'
import { apisOf } from '../support/people.ts'
import { apiSessions, endpointStates, postureData, reportedProcesses } from '../support/stored-records.ts'

const limits = { postureReportBytes: 128 * 1024, reportedProcessBytes: 512 * 1024 }
const { postureReportBytes, reportedProcessBytes } = limits

const fingerprints = (count: number) => Array.from({ length: count }, (_, n) => n.toString(16).padStart(40, '0'))

/** A report of processes that no other report has. */
function processes(count: number, serial: number, signers = 1) {
  return Array.from({ length: count }, (_, n) => ({
    id: `check ${serial} ${n}`,
    typeId: 'PROCESS',
    path: `/opt/${serial}/${n}`,
    isRunning: true,
    hash: 'ab'.repeat(32),
    signerFingerprints: fingerprints(signers),
  }))
}

/** The stored posture of all identities, as JSON. */
function storedBytes(storage: Storage): Promise<number> {
  return storage.read(async (tx) => {
    const kinds: readonly RecordKind[] = [postureData, reportedProcesses, endpointStates]
    const found = await Promise.all(kinds.map((kind) => tx.collection(kind).find()))
    return JSON.stringify(found).length
  })
}

/** A storage that adds up the bytes of every record that is written. */
function measured(storage: Storage) {
  const state = { bytes: 0, records: 0 }
  const count = (record: object) => {
    state.bytes += JSON.stringify(record).length
    state.records += 1
  }
  const measuring: Storage = {
    read: (work) => storage.read(work),
    write: (work) =>
      storage.write((tx) =>
        work({
          revision: tx.revision,
          line: tx.line,
          changesSince: (revision, line) => tx.changesSince(revision, line),
          collection: (kind) => {
            const collection = tx.collection(kind)
            return {
              get: (id) => collection.get(id),
              find: (query) => collection.find(query),
              findIds: (query) => collection.findIds(query),
              scan: (fields) => collection.scan(fields),
              insert: (record) => {
                count(record)
                return collection.insert(record)
              },
              update: (record) => {
                count(record)
                return collection.update(record)
              },
              delete: (id) => collection.delete(id),
            }
          },
        }),
      ),
    close: () => storage.close(),
  }
  return { state, storage: measuring }
}

const bulk = (api: ForeignClient, responses: readonly object[]) => api.post('/posture-response-bulk', responses)

/** Alice in an API session, over a storage. */
async function reporting(storage: Storage = memoryStorage()) {
  const here = await network({ storage, limits, people: { alice: {} } })
  return { ...here, storage, ...(await apisOf(here.mounted, here.alice)) }
}

describe('posture reports', () => {
  it('have so many bytes, or name what is too large', async () => {
    const { api } = await reporting()
    const limit = 'limit postureReportBytes'
    const [huge] = processes(1, 0, 9900)
    expectFieldError(await api.post('/posture-response', huge), 'signerFingerprints', limit)
    expectFieldError(await bulk(api, processes(10, 0, 9900).slice(0, 2)), 'signerFingerprints', limit)
    expectFieldError(await bulk(api, processes(1000, 0, 10)), 'body', limit)
    expectFieldError(
      await api.post('/posture-response', { id: 'm', typeId: 'MAC', macAddresses: fingerprints(9900) }),
      'macAddresses',
      limit,
    )
    expect((await bulk(api, processes(200, 0, 2))).status).toBe(200)
  })

  it('of which each has other processes leave the newest within the bytes of an identity', async () => {
    const { mounted, storage, api, admin, alice } = await reporting()
    const sizes = []
    for (let serial = 0; serial < 40; serial += 1) {
      mounted.clock.advance(1000)
      const report = processes(300, serial, 4)
      expect((await bulk(api, report)).status, String(JSON.stringify(report).length)).toBe(200)
      sizes.push(await storedBytes(storage))
    }
    expect(Math.max(...sizes)).toBeLessThan(reportedProcessBytes + 20_000)
    const shown = (await read(admin, `/identities/${alice.id}/posture-data`)).processes
    expect(shown.map((one: { postureCheckId: string }) => one.postureCheckId)).toContain('check 39 299')
    expect(JSON.stringify(processes(300, 0, 4)).length).toBeLessThan(postureReportBytes)
  })

  it('are stored in proportion to what they say, whatever is known already', async () => {
    const { state, storage } = measured(memoryStorage())
    const { mounted, api } = await reporting(storage)
    for (let serial = 0; serial < 6; serial += 1) {
      mounted.clock.advance(1000)
      await bulk(api, processes(200, serial, 5))
    }
    expect(await storedBytes(storage)).toBeGreaterThan(350_000)
    state.bytes = 0
    expect((await api.post('/posture-response', processes(1, 5)[0])).status).toBe(201)
    expect(state.bytes).toBeLessThan(reportedProcessBytes / 3)
    state.bytes = 0
    expect((await api.post('/posture-response', { id: 'd', typeId: 'DOMAIN', domain: 'corp' })).status).toBe(201)
    expect(state.bytes).toBeLessThan(1000)
  })

  it('and logins write as many records whether the identity has one API session or many', async () => {
    const { state, storage } = measured(memoryStorage())
    const { mounted, alice, api } = await reporting(storage)
    const cost = async () => {
      state.records = 0
      state.bytes = 0
      mounted.clock.advance(1000)
      expect((await api.post('/posture-response', { id: 'd', typeId: 'DOMAIN', domain: 'corp' })).status).toBe(201)
      expect((await api.post('/posture-response', { id: 's', typeId: 'ENDPOINT_STATE', woken: true })).status).toBe(201)
      const login = { username: alice.username, password: alice.password, sdkInfo: { type: 'ziti-sdk-c' } }
      expect((await mounted.fetch('/edge/client/v1/authenticate?method=password', json(login))).status).toBe(200)
      return { records: state.records, bytes: Math.round(state.bytes / 200) }
    }
    await cost()
    const alone = await cost()
    for (let n = 0; n < 300; n += 1) await cost()
    // Less than that where the audit trail folds logins that come in a row.
    const among = await cost()
    expect(among.records).toBeLessThanOrEqual(alone.records)
    expect(among.bytes).toBeLessThanOrEqual(alone.bytes)
  })

  it('stand beside what an earlier version kept in one record, which is taken apart by the next report', async () => {
    const { mounted, admin, alice, serviceId } = await smallNetwork(await mount({ limits }))
    const { storage, clock } = mounted.controller
    const process = { osType: 'Linux', path: '/old/5', hashes: [], signerFingerprint: '' }
    const check = { name: 'p', typeId: 'PROCESS', roleAttributes: ['required'], process }
    await create(admin, '/posture-checks', check)
    const reports = Array.from({ length: 900 }, (_, n) => ({
      postureCheckId: `old ${n}`,
      lastUpdatedAt: clock.now() + n,
      path: `/old/${n}`,
      isRunning: true,
      hash: '',
      signerFingerprints: fingerprints(n === 5 ? 0 : 30),
    }))
    const [{ id: sessionId = '' } = {}] = (await storage.read((tx) => tx.collection(apiSessions).find())).items.filter(
      ({ identityId }) => identityId === alice.id,
    )
    const state = {
      mfa: { passedAt: 5 },
      unlockedAt: null,
      wokenAt: null,
      firstUnlockedAt: null,
      firstWokenAt: null,
      sdkInfo: null,
    }
    const sessions = [
      { apiSessionId: sessionId, ...state },
      { apiSessionId: 'gone', ...state },
    ]
    const whole = { ...emptyPostureData(), processes: reports, processesByPath: reports, sessions }
    const record = { id: alice.id, createdAt: 0, updatedAt: 0, tags: {}, identityId: alice.id, data: whole }
    await storage.write((tx) => tx.collection(postureData).insert({ ...record, processCount: 0, processBytes: 0 }))
    const before = await read(admin, `/identities/${alice.id}/posture-data`)
    expect(before.processes).toHaveLength(900)
    expect((await alice.api.post('/sessions', { serviceId, type: 'Dial' })).status).toBe(201)
    clock.advance(10_000)
    expect((await alice.api.post('/posture-response', { id: 'd', typeId: 'DOMAIN', domain: 'corp' })).status).toBe(201)
    expect(await storedBytes(storage)).toBeLessThan(reportedProcessBytes + 20_000)
    const after = await read(admin, `/identities/${alice.id}/posture-data`)
    expect(after.processes.at(-1)).toEqual(before.processes.at(-1))
    expect(after.domain.domain).toBe('corp')
    expect(Object.keys(after.apiSessionPostureData)).toEqual([sessionId])
    expect((await admin.delete(`/identities/${alice.id}`)).status).toBe(200)
    expect(await storedBytes(storage)).toBeLessThan(200)
  })
})

function json(body: object) {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
