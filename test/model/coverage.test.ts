import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { coverageText, lowestShare, ModelError, readModel, testModel, testText } from 'portcullis/model'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from '../adapters/cli/run-program.ts'

const NETWORK = `
identities:
  - { name: laptop, type: Device, isAdmin: false, roleAttributes: [staff] }
  - { name: phone, type: Device, isAdmin: false, roleAttributes: [staff] }
  - { name: box, type: Device, isAdmin: false }
services: [{ name: wiki }, { name: payroll }]
postureChecks: [{ name: at work, typeId: DOMAIN, domains: [corp.example], roleAttributes: [at-work] }]
servicePolicies:
  - { name: read, type: Dial, semantic: AnyOf, identityRoles: ['#staff'], serviceRoles: ['@wiki'] }
  - { name: pay, type: Dial, semantic: AnyOf, identityRoles: ['@laptop'], serviceRoles: ['@payroll'], postureCheckRoles: ['#at-work'] }
  - { name: host, type: Bind, semantic: AnyOf, identityRoles: ['@box'], serviceRoles: ['#all'] }
`

const model = (assertions: string) => readModel({ name: 'net.yaml', text: `${NETWORK}assertions:\n${assertions}` })

describe('a matrix', () => {
  it('says of each cell what is there, and no more', async () => {
    const result = await testModel(
      await model(`
  - posture: { domain: corp.example }
    matrix:
      laptop: { wiki: dial, payroll: dial }
      '#staff': { wiki: dial }
      box: { wiki: bind, payroll: bind }
  - { matrix: { laptop: { payroll: none } } }
`),
    )
    expect([result.failed, result.passed]).toEqual([0, 14])
  })

  it('fails where there is less, or more, and tells the cell', async () => {
    const result = await testModel(
      await model('  - matrix:\n      laptop: { wiki: both }\n      box:\n        payroll: none\n'),
    )
    expect(result.cases.filter(({ passed }) => !passed).map(({ name }) => name)).toEqual([
      'laptop may bind wiki',
      'box may not bind payroll',
    ])
    expect(testText(result)).toContain('box may not bind payroll (net.yaml:16:9)')
  })

  it.each([
    ['  - matrix: { laptop: { wiki: dials } }', 'must be one of dial, bind, both, none'],
    ['  - matrix: { laptop: {} }', 'has no cell'],
    ['  - matrix: { laptop: wiki }', 'must be a map'],
    ['  - { matrix: { laptop: { wiki: dial } }, never: {} }', 'is unknown'],
  ])('is refused where it says nothing: %s', async (assertions, words) => {
    const problem = await model(assertions).catch((error) => error)
    expect(problem).toBeInstanceOf(ModelError)
    expect(problem.message).toMatch(/^net\.yaml:13:\d+: assertions\[0\]/)
    expect(problem.message).toContain(words)
  })
})

describe('coverage', () => {
  it('is what assertions asked about of policies, checks and pairs that are granted', async () => {
    const { coverage } = await testModel(await model('  - { as: laptop, dial: { allow: wiki } }'))
    expect(coverage).toEqual({
      policies: { total: 3, covered: 1, missing: ['host', 'pay'] },
      checks: { total: 1, covered: 0, missing: ['at work'] },
      pairs: {
        ...{ total: 5, covered: 1 },
        missing: ['box binds payroll', 'laptop dials payroll', 'box binds wiki', 'phone dials wiki'],
      },
    })
    if (coverage === undefined) return
    expect(lowestShare(coverage)).toBe(0)
    expect(coverageText(coverage)).toContain('1 of 3 service policies are asked about\n  - host\n  - pay\n')
  })

  it('is whole where everything was asked about, and counts no pair twice, none that is denied, and no invariant', async () => {
    const all =
      "  - { as: '#all', dial: { deny: '#all' }, bind: { deny: '#all' } }\n  - { as: laptop, dial: { allow: wiki } }"
    const { coverage } = await testModel(await model(all))
    expect(coverage).toMatchObject({
      pairs: { total: 5, covered: 5 },
      checks: { covered: 1 },
      policies: { covered: 3 },
    })
    const never = await testModel(await model("  - never: { identity: ['#guest'], dial: ['#all'] }"))
    expect(never.coverage).toMatchObject({ pairs: { covered: 0 }, policies: { covered: 0 } })
  })
})

describe('portcullis test --min-coverage', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-coverage-'))
    await writeFile(join(folder, 'net.yaml'), `${NETWORK}assertions:\n  - { as: laptop, dial: { allow: wiki } }\n`)
  })
  afterAll(() => rm(folder, { recursive: true }))
  const run = (...args: readonly string[]) => runProgram(['test', join(folder, 'net.yaml'), ...args], {})

  it('ends with 3 where too little is asked about, and tells it', async () => {
    const enough = await run('--coverage')
    expect([enough.code, enough.stdout]).toEqual([0, expect.stringContaining('1 passed')])
    expect(enough.stderr).toContain('1 of 5 pairs that are granted are asked about')
    const little = await run('--min-coverage', '80')
    expect([little.code, little.stderr]).toEqual([3, expect.stringContaining('0 % are asked about, 80 % have to be')])
    expect((await run('--min-coverage', 'most')).code).toBe(2)
  })
})
