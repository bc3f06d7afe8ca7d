import { expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import { formatIdentityName, numberedName } from '../../src/facts/credentials/signers/claims.rules.ts'

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
