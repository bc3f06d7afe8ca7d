import { createTestController, recordingLogger } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectFieldError } from '../contract/http/errors.ts'
import { create } from '../contract/http/foreign-client.ts'
import { network } from '../support/network.ts'
import { authPolicy } from '../support/people.ts'
import { withSharedPki } from '../support/shared-pki.ts'

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
])('%j under %j: %s', async (password, rules, weakness) => {
  const { admin } = await network()
  const authPolicyId = await create(admin, '/auth-policies', authPolicy('rules', rules))
  const identityId = await create(admin, '/identities', { name: 'a', type: 'User', isAdmin: false, authPolicyId })
  const answer = await admin.post('/authenticators', { method: 'updb', identityId, username: 'somebody', password })
  if (weakness === undefined) expect(answer.status, answer.text).toBe(201)
  else expectFieldError(answer, 'password', weakness)
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
  ])('%s', async (_what, password, weakness) => {
    const logger = recordingLogger()
    const admin = { username: 'keeper-of-old', password }
    const controller = await createTestController(await withSharedPki({ admin, logger }))
    onTestFinished(() => controller.close())
    const warned = logger.entries.filter(({ message }) => message === 'the password of the default admin is weak')
    expect(warned.map(({ fields }) => fields?.reason)).toEqual(weakness === undefined ? [] : [weakness])
  })
})
