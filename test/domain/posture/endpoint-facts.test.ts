import { applyResponses, emptyPostureData, evaluateCheck, postureResponses } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'

const NOW = Date.UTC(2026, 0, 1)

describe('what an endpoint tells of itself', () => {
  it('is nothing when nothing is known', () => {
    expect(postureResponses({})).toEqual([])
  })

  it('becomes one response for each fact, in order', () => {
    const responses = postureResponses({
      domain: 'corp.example',
      os: { type: 'Linux', version: '6.12.0' },
      macAddresses: ['02:00:00:00:00:01'],
      processes: [{ path: '/bin/guard' }, { path: '/bin/spy', isRunning: false, hash: 'ab' }],
      isWoken: true,
    })
    expect(responses).toEqual([
      { id: 'domain', typeId: 'DOMAIN', domain: 'corp.example' },
      { id: 'os', typeId: 'OS', type: 'Linux', version: '6.12.0' },
      { id: 'mac', typeId: 'MAC', macAddresses: ['02:00:00:00:00:01'] },
      { id: 'process-0', typeId: 'PROCESS', path: '/bin/guard', isRunning: true },
      { id: 'process-1', typeId: 'PROCESS', path: '/bin/spy', isRunning: false, hash: 'ab' },
      { id: 'endpoint-state', typeId: 'ENDPOINT_STATE', unlocked: false, woken: true },
    ])
  })

  it('passes the checks that ask for it', () => {
    const data = applyResponses(emptyPostureData(), 'session', postureResponses({ domain: 'corp.example' }), NOW)
    const check = { id: 'c', name: 'c', typeId: 'DOMAIN', domains: ['CORP.example'] } as const
    expect(evaluateCheck(check, data, 'session', NOW)).toBe(true)
  })
})

it('refuses a process whose member is unknown or missing, by name', () => {
  const withProcess = (process: object) => () => postureResponses({ processes: [process as { path: string }] })
  expect(withProcess({ path: '/usr/bin/edr', running: false })).toThrow(/^running is no option of a process/)
  expect(withProcess({ isRunning: true })).toThrow(/^a process: path is needed/)
})
