import { readFileSync } from 'node:fs'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import { DEPLOYED_HABITS, LENIENCIES, profileOf } from '../../src/base/compatibility.ts'

const GUIDE = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8')
const [OPTIONS_TABLE, HABITS_TABLE] = GUIDE.split('Where no safety is at stake').map(rowsOf)

/** The rows of a table, without its head. */
function rowsOf(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
}

const options = Object.entries(LENIENCIES)
const habits = Object.entries(DEPLOYED_HABITS)

/** A value as the guide writes it: numbers with their thousands apart. */
function shown(value: boolean | number): string {
  return `\`${String(value).replace(/(?<=\d)(?=(\d{3})+$)/g, '_')}\``
}

describe('the profile', () => {
  it.each(options)('%s is strict by default and lenient with compat, and what is given wins', (name, row) => {
    const { strict, deployed } = row
    expect(profileOf({})).toHaveProperty(name, strict)
    expect(profileOf({ compat: 'openziti' })).toHaveProperty(name, deployed)
    expect(profileOf({ [name]: deployed })).toEqual({ ...profileOf({}), [name]: deployed })
    expect(profileOf({ compat: 'openziti', [name]: strict })).toHaveProperty(name, strict)
  })

  it.each(habits)('%s follows compat alone', (name) => {
    expect(profileOf({})).toHaveProperty(name, false)
    expect(profileOf({ compat: 'openziti' })).toHaveProperty(name, true)
    expect(profileOf({ [name]: true })).toHaveProperty(name, false)
  })

  it('is looser in nothing than deployed controllers by default', () => {
    for (const [name, { strict }] of options) expect([name, strict]).not.toEqual([name, true])
    expect(profileOf({}).recoveryCodeLength).toBeGreaterThan(profileOf({ compat: 'openziti' }).recoveryCodeLength)
    expect(profileOf({}).refreshTokenGraceMs).toBeLessThan(profileOf({ compat: 'openziti' }).refreshTokenGraceMs)
  })
})

describe('an option that gives up strictness', () => {
  it.each(options)('%s of another type is refused by its name', async (name, { strict }) => {
    await expect(createTestController({ [name]: String(strict) })).rejects.toThrow(name)
  })

  it.each(options.flatMap(([name, row]) => ('range' in row ? [[name, row.range] as const] : [])))(
    '%s beyond %j is refused',
    async (name, [least, greatest]) => {
      await expect(createTestController({ [name]: least - 1 })).rejects.toThrow(name)
      await expect(createTestController({ [name]: greatest + 1 })).rejects.toThrow(name)
    },
  )
})

describe('the guide to compatibility has, in this order,', () => {
  it('a row for every option', () => {
    const rows = options.map(
      ([name, { strict, deployed, doc }]) =>
        `| \`${name}\` | ${shown(strict)}: ${doc[0]} | ${shown(deployed)}: ${doc[1]} |`,
    )
    expect(OPTIONS_TABLE).toEqual(rows)
  })

  it('a row for everything that compat alone decides', () => {
    expect(HABITS_TABLE).toEqual(habits.map(([, { doc }]) => `| ${doc.join(' | ')} |`))
  })
})
