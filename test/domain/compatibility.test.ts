import { describe, expect, it } from 'vitest'
import { leniencyOf } from '../../src/domain/compatibility.ts'

describe('leniency', () => {
  it.each([
    ['allowTotpReuse', false, true],
    ['allowUnlimitedCodes', false, true],
    ['allowUnlimitedLogins', false, true],
    ['allowPrivateJwks', false, true],
    ['allowWeakPasswords', false, true],
    ['allowSelfDeletion', false, true],
    ['allowTokensOfOthers', false, true],
    ['keepSessionsOnPasswordChange', false, true],
    ['recoveryCodeLength', 10, 6],
  ] as const)('%s is %j by default and %j with compat, and what is given wins', (option, strict, lenient) => {
    expect(leniencyOf({})[option]).toBe(strict)
    expect(leniencyOf({ compat: 'openziti' })[option]).toBe(lenient)
    expect(leniencyOf({ [option]: lenient })).toEqual({ ...leniencyOf({}), [option]: lenient })
    expect(leniencyOf({ compat: 'openziti', [option]: strict })[option]).toBe(strict)
  })

  it('has a line in the table of the README for each option', async () => {
    const { readFile } = await import('node:fs/promises')
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
    const rows = [...readme.matchAll(/^\| `(\w+)` \|/gm)].map(([, option]) => option)
    expect(rows.filter((option) => option !== undefined && option in leniencyOf({})).sort()).toEqual(
      Object.keys(leniencyOf({})).sort(),
    )
  })
})
