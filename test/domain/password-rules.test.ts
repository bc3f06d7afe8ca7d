import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import { adminPasswordWeakness, passwordWeakness } from '../../src/facts/credentials/password.rules.ts'

const none = { minPasswordLength: 5, requireMixedCase: false, requireNumberChar: false, requireSpecialChar: false }

it.each([
  ['abcde', {}, undefined],
  ['abcd', {}, 'should be at least 5 chars long'],
  ['abcdefgh', { minPasswordLength: 9 }, 'should be at least 9 chars long'],
  ['a'.repeat(100), {}, undefined],
  ['a'.repeat(101), {}, 'should be at most 100 chars long'],
  ['𝒳𝒳𝒳𝒳', {}, 'should be at least 5 chars long'],
  ['ALLUPPER', { requireMixedCase: true }, 'should contain an upper-case and a lower-case letter'],
  ['alllower', { requireMixedCase: true }, 'should contain an upper-case and a lower-case letter'],
  ['someUpper', { requireMixedCase: true }, undefined],
  ['ÄÖüäö', { requireMixedCase: true }, undefined],
  ['letters', { requireNumberChar: true }, 'should contain a digit'],
  ['letters7', { requireNumberChar: true }, undefined],
  ['letters7', { requireSpecialChar: true }, 'should contain a special character'],
  ['letters 7', { requireSpecialChar: true }, undefined],
  ['lettersé', { requireSpecialChar: true }, 'should contain a special character'],
  ['Aa1!x', { requireMixedCase: true, requireNumberChar: true, requireSpecialChar: true }, undefined],
])('%j under %j: %s', (password, rules, weakness) => {
  expect(passwordWeakness(password, { ...none, ...rules })).toBe(weakness)
})

describe("an administrator's password", () => {
  it.each([
    ['short', 'Xk3!f9Lq2w7', 'it has fewer than 12 characters'],
    ['the username', 'keeper-of-old', 'it is little more than the username'],
    ['the username twice', 'Keeper-Of-OldKEEPER-OF-OLD12', 'it is little more than the username'],
    ['five characters beside the username', 'keeper-of-old-k9wz', undefined],
    ['a common word with digits and marks', 'Password!!!!2026', 'it is a common word'],
    ['few characters', 'abababababab', 'it is made of few characters'],
    ['five different characters', 'abcdeabcdeab', undefined],
    ['long enough', 'a-long-password', undefined],
  ])('%s', (_what, password, weakness) => {
    expect(adminPasswordWeakness(password, 'keeper-of-old')).toBe(weakness)
  })
})
