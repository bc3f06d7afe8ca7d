import { emptyPostureData, evaluateCheck } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { domainCheck, reported, SESSION, START } from './checks.ts'

describe('DOMAIN posture check', () => {
  it.each([
    ['a listed domain', ['corp.example.org'], 'corp.example.org', true],
    ['one of several listed domains', ['a', 'b'], 'b', true],
    ['a listed domain in another case', ['corp.example.org'], 'CORP.example.org', true],
    ['a domain listed in another case', ['CORP'], 'corp', true],
    ['letters beyond ASCII in another case', ['MÜNCHEN'], 'münchen', true],
    ['either small sigma', ['κοσμος'], 'κοσμοσ', true],
    ['a domain that is not listed', ['corp'], 'home', false],
    ['a part of a listed domain', ['corp.example.org'], 'corp', false],
    ['a domain between spaces', ['corp'], ' corp ', false],
    ['no domain', ['corp'], '', false],
    ['a check that lists no domain', [], 'corp', false],
  ])('decides on %s', (_situation, domains, domain, passes) => {
    const data = reported({ id: 'any', typeId: 'DOMAIN', domain })
    expect(evaluateCheck(domainCheck(...domains), data, SESSION, START)).toBe(passes)
  })

  it('fails while no domain was reported', () => {
    expect(evaluateCheck(domainCheck('corp', ''), emptyPostureData(), SESSION, START)).toBe(false)
  })
})
