import { emptyPostureData, evaluateCheck } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { processMultiCheck, reported, SESSION, START } from './checks.ts'

const a = { path: '/a' } as const
const b = { path: '/b' } as const
const hashed = { path: '/a', hashes: ['AB:12'] } as const
const signed = { path: '/a', signerFingerprints: ['9F:01'] } as const

function process(path: string, facts: { isRunning?: boolean; hash?: string; signerFingerprints?: string[] } = {}) {
  return { id: 'any', typeId: 'PROCESS', path, isRunning: true, ...facts } as const
}

describe('PROCESS_MULTI posture check', () => {
  it.each([
    ['AllOf', 'all processes running', [a, b], [process('/a'), process('/b')], true],
    ['AllOf', 'one of two running', [a, b], [process('/a')], false],
    ['AllOf', 'one of two stopped', [a, b], [process('/a'), process('/b', { isRunning: false })], false],
    ['AllOf', 'nothing reported', [a], [], false],
    ['AllOf', 'no process listed', [], [process('/a')], false],
    ['AllOf', 'a listed process without a path', [a, { path: '' }], [process('/a'), process('')], false],
    ['OneOf', 'all running', [a, b], [process('/a'), process('/b')], true],
    ['OneOf', 'one of two running', [a, b], [process('/b')], true],
    ['OneOf', 'none running', [a, b], [process('/a', { isRunning: false })], false],
    ['AnyOf', 'one of two running', [a, b], [process('/b')], true],
    ['AnyOf', 'none running', [a, b], [process('/c')], false],
    ['AnyOf', 'no process listed', [], [process('/a')], false],
    ['AnyOf', 'only the process without a path reported', [{ path: '' }, a], [process('')], false],
    ['AnyOf', 'a required hash in another form', [hashed], [process('/a', { hash: 'ab12' })], true],
    ['AnyOf', 'another hash', [hashed], [process('/a', { hash: 'ab13' })], false],
    ['AnyOf', 'a required signer in another form', [signed], [process('/a', { signerFingerprints: ['9f01'] })], true],
    ['AnyOf', 'another signer', [signed], [process('/a', { signerFingerprints: ['9f02'] })], false],
    ['AnyOf', 'no signer where one is required', [signed], [process('/a')], false],
    ['AnyOf', 'a path in another case', [a], [process('/A')], false],
    ['AnyOf', 'a path named as a property of objects', [{ path: '__proto__' }], [], false],
    ['AllOf', 'such a path reported', [{ path: '__proto__' }], [process('__proto__')], true],
    ['AllOf', 'the newest report of a path', [a], [process('/a'), process('/a', { isRunning: false })], false],
  ] as const)('%s decides on %s', (semantic, _situation, listed, responses, passes) => {
    const check = processMultiCheck(semantic, ...listed)
    expect(evaluateCheck(check, reported(...responses), SESSION, START)).toBe(passes)
  })

  it('fails while no process was reported', () => {
    expect(evaluateCheck(processMultiCheck('OneOf', a), emptyPostureData(), SESSION, START)).toBe(false)
  })
})
