import { emptyPostureData, evaluateCheck } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { macCheck, reported, SESSION, START } from './checks.ts'

describe('MAC posture check', () => {
  it.each([
    ['a listed address', ['14b22ce5f061'], ['14b22ce5f061'], true],
    ['a listed address with other separators', ['14b22ce5f061'], ['14:B2:2C:E5:F0:61'], true],
    ['an address listed with separators', ['14-B2-2C-E5-F0-61'], ['14b22ce5f061'], true],
    ['one listed address among others', ['14b22ce5f061'], ['00:00:00:00:00:01', '14:b2:2c:e5:f0:61'], true],
    ['one of several listed addresses', ['14b22ce5f061', '14b22ce5f062'], ['14b22ce5f062'], true],
    ['an address that is not in the list', ['14b22ce5f061'], ['14b22ce5f062'], false],
    ['no address', ['14b22ce5f061'], [], false],
    ['texts without hex digits on both sides', ['--'], ['::'], false],
    ['a check that lists no address', [], ['14b22ce5f061'], false],
  ])('decides on %s', (_situation, listed, macAddresses, passes) => {
    const data = reported({ id: 'any', typeId: 'MAC', macAddresses })
    expect(evaluateCheck(macCheck(...listed), data, SESSION, START)).toBe(passes)
  })

  it('fails while no address was reported', () => {
    expect(evaluateCheck(macCheck('14b22ce5f061'), emptyPostureData(), SESSION, START)).toBe(false)
  })
})

describe('an address that is reported', () => {
  it.each([
    ['14-B2-2C-E5-F0-61', '14b22ce5f061'],
    ['AB:cd', 'abcd'],
    [' ab cd\n', 'abcd'],
    ['xyz', undefined],
    ['', undefined],
  ])('%j is kept as %s', (text, kept) => {
    const { mac } = reported({ id: 'any', typeId: 'MAC', macAddresses: [text] })
    expect(mac?.addresses).toEqual(kept === undefined ? [] : [kept])
  })
})
