import type { PostureResponse } from 'portcullis'
import { applyResponses, clearMfa, emptyPostureData, type PostureData, recordMfaPass } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { read } from '../../contract/http/foreign-client.ts'
import { network } from '../../support/network.ts'
import { at, reported, SESSION, START } from './checks.ts'

/** The most processes that are kept of one endpoint. */
const MOST_PROCESSES = 1000

const sessionPosture = ({ sessions }: PostureData, id: string) =>
  sessions.find(({ apiSessionId }) => apiSessionId === id)

const report = { postureCheckId: 'c1', lastUpdatedAt: START }

describe('posture responses', () => {
  it('record the operating system verbatim', () => {
    const response = { id: 'c1', typeId: 'OS', type: 'Linux ', version: 'V1' } as const
    expect(reported(response).os).toEqual({ ...report, type: 'Linux ', version: 'V1', build: '' })
    expect(reported({ ...response, build: '#1' }).os).toMatchObject({ build: '#1' })
  })

  it('record the domain verbatim', () => {
    expect(reported({ id: 'c1', typeId: 'DOMAIN', domain: 'Corp ' }).domain).toEqual({ ...report, domain: 'Corp ' })
  })

  it('record MAC addresses normalised, without those that have no digit', () => {
    const { mac } = reported({ id: 'c1', typeId: 'MAC', macAddresses: ['AA:BB', '::'] })
    expect(mac).toEqual({ ...report, addresses: ['aabb'] })
  })

  it('record a process with hash and signers normalised', () => {
    const data = reported({
      id: 'c1',
      typeId: 'PROCESS',
      path: '/A',
      isRunning: true,
      hash: 'AB:1',
      signerFingerprints: ['C D', '-'],
    })
    const process = { ...report, path: '/A', isRunning: true, hash: 'ab1', signerFingerprints: ['cd'] }
    expect(data).toMatchObject({ processes: [process], processesByPath: [process] })
  })

  it('record a process without a path only under the check', () => {
    const data = reported({ id: 'c1', typeId: 'PROCESS', isRunning: true })
    expect(data.processes).toHaveLength(1)
    expect(data.processesByPath).toEqual([])
  })

  it('apply in order: the last of a kind, check or path stays', () => {
    const data = reported(
      { id: 'a', typeId: 'DOMAIN', domain: 'first' },
      { id: 'c1', typeId: 'PROCESS', path: '/a' },
      { id: 'c2', typeId: 'PROCESS', path: '/b' },
      { id: 'b', typeId: 'DOMAIN', domain: 'second' },
      { id: 'c1', typeId: 'PROCESS', path: '/b' },
    )
    expect(data.domain).toMatchObject({ postureCheckId: 'b', domain: 'second' })
    expect(data.processes.map((process) => [process.postureCheckId, process.path])).toEqual([
      ['c2', '/b'],
      ['c1', '/b'],
    ])
    expect(data.processesByPath.map((process) => [process.path, process.postureCheckId])).toEqual([
      ['/a', 'c1'],
      ['/b', 'c1'],
    ])
  })

  it.each([
    ['unlocked', { unlocked: true }, at(5), null],
    ['woken', { woken: true, unlocked: false }, null, at(5)],
    ['both', { woken: true, unlocked: true }, at(5), at(5)],
    ['neither', {}, null, null],
  ])('record when the endpoint was %s', (_event, event, unlockedAt, wokenAt) => {
    const response = { id: '0', typeId: 'ENDPOINT_STATE', ...event } as const
    const data = applyResponses(emptyPostureData(), SESSION, [response], at(5))
    expect(sessionPosture(data, SESSION)).toEqual({
      apiSessionId: SESSION,
      mfa: null,
      sdkInfo: null,
      unlockedAt,
      wokenAt,
      firstUnlockedAt: unlockedAt,
      firstWokenAt: wokenAt,
    })
  })

  it('keep a bounded number of processes, the newest', () => {
    const responses = Array.from({ length: MOST_PROCESSES + 5 }, (_, index): PostureResponse => {
      return { id: `c${index}`, typeId: 'PROCESS', path: `/${index}` }
    })
    const data = reported(...responses)
    expect(data.processes).toHaveLength(MOST_PROCESSES)
    expect(data.processes[0]?.postureCheckId).toBe('c5')
    expect(data.processesByPath[0]?.path).toBe('/5')
  })

  it('leave the given posture data as it was', () => {
    const before = reported({ id: 'c1', typeId: 'PROCESS', path: '/a' })
    const copy = structuredClone(before)
    applyResponses(before, SESSION, [{ id: 'c1', typeId: 'PROCESS', path: '/a', isRunning: true }], at(1))
    recordMfaPass(before, SESSION, at(1))
    expect(before).toEqual(copy)
  })

  it('survive storage as JSON, whatever ids and paths are called', () => {
    const hostile = ['__proto__', 'constructor', 'toString']
    const data = hostile.reduce((known, name) => {
      const response = { id: name, typeId: 'PROCESS', path: name, isRunning: true } as const
      return recordMfaPass(applyResponses(known, name, [response], START), name, START)
    }, emptyPostureData())
    const restored: unknown = JSON.parse(JSON.stringify(data))
    expect(restored).toEqual(data)
    expect(data.processesByPath.map((process) => process.path)).toEqual(hostile)
    expect(sessionPosture(data, '__proto__')?.mfa).toEqual({ passedAt: START })
    expect(sessionPosture(data, 'valueOf')).toBeUndefined()
  })
})

describe('API sessions in posture data', () => {
  const two = recordMfaPass(recordMfaPass(emptyPostureData(), 'a', START), 'b', START)

  it('keep what the SDK said about itself, beside what another session keeps', async () => {
    const { admin, anybody, alice } = await network({ people: { alice: {} } })
    const login = async (more: object = {}) => {
      const credentials = { username: alice.username, password: alice.password, ...more }
      return (await anybody.post('/authenticate?method=password', credentials)).body.data.id
    }
    const sdkInfo = { type: 'ziti-sdk-c', version: '1.0.0' }
    const [told, silent] = [await login({ sdkInfo }), await login()]
    const { apiSessionPostureData } = await read(admin, `/identities/${alice.id}/posture-data`)
    expect(apiSessionPostureData[told].sdkInfo).toEqual(sdkInfo)
    expect(apiSessionPostureData[silent]?.sdkInfo).toBeUndefined()
  })

  it('all lose their MFA pass when the identity has no MFA any more', () => {
    const data = clearMfa(applyResponses(two, 'c', [{ id: '0', typeId: 'ENDPOINT_STATE', unlocked: true }], START))
    expect(data.sessions.map((session) => session.mfa?.passedAt)).toEqual([null, null, undefined])
  })
})
