import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { passedLimits } from '../../scripts/check-limits.ts'
import { node } from './support/quickstart.ts'

const root = resolve(import.meta.dirname, '../..')
const readme = readFileSync(resolve(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)]
const blockOf = (fence: string) => blocks.find(([, kind]) => kind === fence)?.[2] ?? ''

describe('README.md', () => {
  it('embeds a controller in 20 lines that run as they stand, and ends in the decision that it tells', () => {
    const code = blockOf('ts')
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(20)
    const options = { cwd: root, input: code, encoding: 'utf8' } as const
    const run = spawnSync(node.path, [...node.args, '--input-type=module-typescript', '-'], options)
    expect([run.stderr, run.status]).toEqual(['', 0])
    expect(readme).toContain(`It prints \`${run.stdout.trim()}\``)
  })

  it('has a test that a test runner finds, and that passes', async () => {
    const block = blockOf('ts test')
    const imports = [...block.matchAll(/^import .*'(.*)'.*$/gm)].map(([, name]) => name)
    expect(imports).toEqual(['portcullis/testing', 'vitest'])
    const found: [string, () => Promise<void>][] = []
    const test = (name: string, body: () => Promise<void>) => void found.push([name, body])
    new Function('createTestController', 'expect', 'test', block.replaceAll(/^import .*$/gm, ''))(
      createTestController,
      expect,
      test,
    )
    expect(found.map(([name]) => name)).toEqual(['a laptop outside the company reaches nothing'])
    for (const [, body] of found) await body()
  })

  it('shows lines of the guide to dark apps, which are run there', () => {
    const guide = readFileSync(resolve(root, 'docs/dark-apps.md'), 'utf8')
    const methods = [...blockOf('ts fragment').matchAll(/\brouter\.\w+\(/g)].map(([call]) => call)
    expect(methods).toEqual(['router.host(', 'router.as('])
    for (const method of methods) expect(guide).toContain(method)
  })

  it('is one page: what it may hold is a limit that the check keeps', async () => {
    const measures = { readmeBytes: () => Buffer.byteLength(readme) }
    expect(await passedLimits({ readmeBytes: 6144 }, measures)).toEqual([])
    expect(await passedLimits({ readmeBytes: 6 }, measures)).toEqual([
      expect.stringMatching(/^readmeBytes: \d+, the limit is 6$/),
    ])
    expect(await passedLimits({ unknown: 1 }, measures)).toEqual([
      'unknown: nothing measures it',
      'readmeBytes: it has no limit',
    ])
  })

  it.each([...readme.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, path]) => [String(path)]))(
    'links to %s, which exists',
    (path) => expect(readFileSync(resolve(root, path), 'utf8')).not.toBe(''),
  )

  it.each([...readme.matchAll(/`(portcullis(?:\/\w+)?)`/g)].map(([, entry]) => [String(entry)]))(
    'names the entry point %s, which the package exports',
    (entry) => {
      const { name, exports } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))
      expect(Object.keys(exports)).toContain(entry.replace(name, '.'))
    },
  )
})
