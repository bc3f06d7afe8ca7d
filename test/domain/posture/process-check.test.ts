import { applyResponses, emptyPostureData, evaluateCheck } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { at, processCheck, reported, SESSION, START } from './checks.ts'

const running = { id: 'process-check', typeId: 'PROCESS', path: '/usr/bin/av', isRunning: true } as const
const stopped = { ...running, isRunning: false } as const

describe('PROCESS posture check', () => {
  it.each([
    ['a running process, without further conditions', {}, running, true],
    ['a process that does not run', {}, stopped, false],
    ['a response that does not say whether it runs', {}, { id: 'process-check', typeId: 'PROCESS' }, false],
    ['the required hash', { hashes: ['ab12'] }, { ...running, hash: 'ab12' }, true],
    ['the required hash in another form', { hashes: ['AB:12'] }, { ...running, hash: 'aB 12' }, true],
    ['one of the required hashes', { hashes: ['ab12', 'cd34'] }, { ...running, hash: 'cd34' }, true],
    ['another hash', { hashes: ['ab12'] }, { ...running, hash: 'cd34' }, false],
    ['no hash where one is required', { hashes: ['ab12'] }, running, false],
    ['no hash where the required one has no digits', { hashes: ['--'] }, running, false],
    ['the required hash of a stopped process', { hashes: ['ab12'] }, { ...stopped, hash: 'ab12' }, false],
    ['the required signer', { signerFingerprint: '9F:01' }, { ...running, signerFingerprints: ['00', '9f01'] }, true],
    ['another signer', { signerFingerprint: '9f01' }, { ...running, signerFingerprints: ['00'] }, false],
    ['no signer where one is required', { signerFingerprint: '9f01' }, running, false],
    ['no signer where an empty one is required', { signerFingerprint: '' }, running, true],
    [
      'the signer without the hash',
      { hashes: ['ab12'], signerFingerprint: '9f01' },
      { ...running, signerFingerprints: ['9f01'] },
      false,
    ],
    ['a response to the check from another path', {}, { ...running, path: '/opt/av' }, true],
    ['a response to another check from the same path', {}, { ...running, id: 'other' }, true],
    ['a response to another check from another path', {}, { ...running, id: 'other', path: '/opt/av' }, false],
    ['a path in another case', {}, { ...running, id: 'other', path: '/USR/bin/av' }, false],
  ] as const)('decides on %s', (_situation, process, response, passes) => {
    expect(evaluateCheck(processCheck(process), reported(response), SESSION, START)).toBe(passes)
  })

  it('fails while the process was not reported', () => {
    expect(evaluateCheck(processCheck({}), emptyPostureData(), SESSION, START)).toBe(false)
  })

  it.each([
    ['a newer response from the path counts', stopped, { ...running, id: 'other' }, true],
    ['a newer response to the check counts', { ...running, id: 'other' }, stopped, false],
    ['an outdated response to the check does not', running, { ...stopped, id: 'other' }, false],
    ['a newer response to the check replaces the older', running, stopped, false],
  ] as const)('%s', (_rule, first, second, passes) => {
    const data = applyResponses(reported(first), SESSION, [second], at(1))
    expect(evaluateCheck(processCheck({}), data, SESSION, at(1))).toBe(passes)
  })

  it('prefers the response to the check to one from the path of the same instant', () => {
    expect(evaluateCheck(processCheck({}), reported(running, { ...stopped, id: 'other' }), SESSION, START)).toBe(true)
  })
})
