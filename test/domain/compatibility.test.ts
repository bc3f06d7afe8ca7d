import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { profileOf } from '../../src/domain/compatibility.ts'

const OPTIONS = [
  ['allowTotpReuse', false, true],
  ['allowUnlimitedCodes', false, true],
  ['allowUnlimitedLogins', false, true],
  ['allowPrivateJwks', false, true],
  ['allowWeakPasswords', false, true],
  ['allowSelfDeletion', false, true],
  ['allowTokensOfOthers', false, true],
  ['keepSessionsOnPasswordChange', false, true],
  ['recoveryCodeLength', 10, 6],
  ['refreshTokenGraceMs', 10_000, 60_000],
] as const

/** What has no option of its own, in the order of the second table of the README. */
const OTHERS = [
  'allowsUntypedKeys',
  'clearsUnsentClaims',
  'answersDeployedStatus',
  'keepsHexAsWritten',
  'disablesLockedOut',
  'tellsPassingAccess',
  'namesEveryPolicy',
  'showsEmptyAsDeployed',
  'listsEdgeRoutersAsRouters',
  'requiresDeployedMembers',
  'listsBelowUnknownServices',
  'knowsDefaultTypeAlone',
] as const

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const [FIRST_TABLE = '', SECOND_TABLE = ''] =
  README.split('## Compatibility')[1]?.split('\n## ')[0]?.split('Where no safety is at stake') ?? []

/** The first cells of the rows of a table, without its head. */
function rowsOf(table: string): readonly string[] {
  return [...table.matchAll(/^\| ([^|]+) \|/gm)].slice(1).map(([, cell = '']) => cell)
}

describe('the profile', () => {
  it.each(OPTIONS)('%s is %j by default and %j with compat, and what is given wins', (option, strict, lenient) => {
    expect(profileOf({})[option]).toBe(strict)
    expect(profileOf({ compat: 'openziti' })[option]).toBe(lenient)
    expect(profileOf({ [option]: lenient })).toEqual({ ...profileOf({}), [option]: lenient })
    expect(profileOf({ compat: 'openziti', [option]: strict })[option]).toBe(strict)
  })

  it.each(OTHERS)('%s follows compat alone', (member) => {
    expect([profileOf({})[member], profileOf({ compat: 'openziti' })[member]]).toEqual([false, true])
    expect(profileOf({ [member]: true })[member]).toBe(false)
  })

  it('is nothing else, and each member has a row in a table of the README', () => {
    expect(Object.keys(profileOf({}))).toEqual([...OPTIONS.map(([option]) => option), ...OTHERS])
    expect(rowsOf(FIRST_TABLE)).toEqual(OPTIONS.map(([option]) => `\`${option}\``))
    expect(rowsOf(SECOND_TABLE)).toHaveLength(OTHERS.length)
  })
})
