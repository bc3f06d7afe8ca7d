import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import {
  claimProblem,
  type ExternalIdClaim,
  externalIdOf,
  formatIdentityName,
  numberedName,
} from '../../src/facts/credentials/signers/claims.rules.ts'

const plain: ExternalIdClaim = {
  location: 'COMMON_NAME',
  matcher: 'ALL',
  matcherCriteria: '',
  parser: 'NONE',
  parserCriteria: '',
  index: 0,
}

const names = {
  commonName: 'device-17.example.org',
  uris: ['https://a.example/x', 'spiffe://trust/one/two', 'SPIFFE://trust/three'],
  emails: ['ann@example.org', 'bob@other.org'],
}

const PREFIX = { matcher: 'PREFIX', matcherCriteria: 'device-' } as const
const SUFFIX = { matcher: 'SUFFIX', matcherCriteria: '@example.org' } as const
const SCHEME = { location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiffe' } as const
const SLASHES = { parser: 'SPLIT', parserCriteria: '/' } as const

describe('the external id of a certificate', () => {
  it.each<[Partial<ExternalIdClaim>, string | undefined]>([
    [{}, 'device-17.example.org'],
    [{ index: 1 }, undefined],
    [PREFIX, '17.example.org'],
    [{ ...PREFIX, matcherCriteria: 'x' }, undefined],
    [{ matcher: 'SUFFIX', matcherCriteria: '.example.org' }, 'device-17'],
    [{ matcher: 'SUFFIX', matcherCriteria: 'device-17.example.org' }, undefined],
    [{ parser: 'SPLIT', parserCriteria: '.', index: 1 }, 'example'],
    [{ ...PREFIX, parser: 'SPLIT', parserCriteria: '.', index: 0 }, '17'],
    [{ location: 'SAN_URI' }, 'https://a.example/x'],
    [{ location: 'SAN_URI', index: 2 }, 'SPIFFE://trust/three'],
    [{ location: 'SAN_URI', index: 3 }, undefined],
    [SCHEME, 'spiffe://trust/one/two'],
    [{ ...SCHEME, index: 1 }, 'SPIFFE://trust/three'],
    [{ ...SCHEME, ...SLASHES, index: 4 }, 'two'],
    [{ ...SCHEME, ...SLASHES, index: 8 }, 'three'],
    [{ ...SCHEME, ...SLASHES, index: 1 }, undefined],
    [{ location: 'SAN_EMAIL' }, 'ann@example.org'],
    [{ location: 'SAN_EMAIL', ...SUFFIX }, 'ann'],
    [{ location: 'SAN_EMAIL', matcher: 'PREFIX', matcherCriteria: 'bob@' }, 'other.org'],
    [{ location: 'SAN_EMAIL', parser: 'SPLIT', parserCriteria: '@', index: 3 }, 'other.org'],
  ])('by %j is %j', (change, id) => {
    expect(externalIdOf({ ...plain, ...change }, names)).toBe(id)
  })

  it('is none where the certificate has no such name', () => {
    for (const location of ['COMMON_NAME', 'SAN_URI', 'SAN_EMAIL'] as const) {
      expect(externalIdOf({ ...plain, location }, { commonName: '', uris: [], emails: [] })).toBeUndefined()
    }
  })
})

describe('a claim', () => {
  it.each<[Partial<ExternalIdClaim>, string | undefined]>([
    [plain, undefined],
    [{ ...plain, ...PREFIX }, undefined],
    [{ ...plain, ...SCHEME }, undefined],
    [{ ...plain, location: 'SAN_URI' }, undefined],
    [{}, 'location'],
    [{ location: 'COMMON_NAME', matcher: 'ALL', parser: 'NONE', index: 0 }, undefined],
    [{ location: 'COMMON_NAME', matcher: 'PREFIX', parser: 'NONE', index: 0 }, 'matcherCriteria'],
    [{ location: 'COMMON_NAME', matcher: 'ALL', parser: 'SPLIT', index: 0 }, 'parserCriteria'],
    [{ location: 'COMMON_NAME', matcher: 'ALL', parser: 'NONE' }, 'index'],
    [{ ...plain, ...PREFIX, location: 'SAN_URI' }, 'matcher'],
    [{ ...plain, ...SUFFIX, location: 'SAN_URI' }, 'matcher'],
    [{ ...plain, ...SCHEME, location: 'COMMON_NAME' }, 'matcher'],
    [{ ...plain, ...SCHEME, location: 'SAN_EMAIL' }, 'matcher'],
    [{ ...plain, ...PREFIX, matcherCriteria: '' }, 'matcherCriteria'],
    [{ ...plain, parser: 'SPLIT' }, 'parserCriteria'],
    [{ ...plain, index: -1 }, 'index'],
  ])('%j is wrong at %j', (claim, member) => {
    expect(claimProblem(claim)?.member).toBe(member)
  })
})

const symbols = { caName: 'Acme', caId: 'ca1', commonName: 'device', requestedName: 'mine', identityId: 'id1' }

it.each([
  ['[caName]-[commonName]', 'Acme-device'],
  ['[requestedName]', 'mine'],
  ['[caId]/[identityId]/[caId]', 'ca1/id1/ca1'],
  ['[unknown] [__proto__] plain', '[unknown] [__proto__] plain'],
  ['', ''],
])('%j names an identity %j', (format, name) => {
  expect(formatIdentityName(format, symbols)).toBe(name)
})

it.each([
  [0, 'x'],
  [1, 'x000001'],
  [123456, 'x123456'],
])('attempt %d of a taken name is %j', (attempt, name) => {
  expect(numberedName('x', attempt)).toBe(name)
})
