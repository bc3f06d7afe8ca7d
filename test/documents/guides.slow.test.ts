import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { apiDocuments, VERSION } from 'portcullis'
import { describe, expect, it } from 'vitest'
// Internals: the tables of error codes and routes, so that none is left undocumented.
import { STATUS_OF } from '../../src/http/pipeline/problem.ts'
import { freePort } from '../support/free-port.ts'
import { PERMISSIONS } from '../support/permissions.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'docs')
const guides = readdirSync(folder).filter((name) => name.endsWith('.md'))

/** The guide of coding agents, from the folder of the guides. */
const SKILL = '../skills/portcullis/SKILL.md'

/** The blocks of a guide whose fence names exactly this: what is a fragment has another word behind its language. */
function blocksOf(text: string, fence: string): readonly string[] {
  return [...text.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].flatMap(([, kind, code = '']) =>
    kind === fence ? [code] : [],
  )
}

/** The guides whose TypeScript runs from the first block to the last, and prints what the text blocks say. */
const running = [...guides, SKILL].filter((name) => {
  const text = readFileSync(join(folder, name), 'utf8')
  return blocksOf(text, 'text').length > 0 && blocksOf(text, 'ts').length > 0
})

describe('the guides', () => {
  it.each(running)('%s runs as it stands, and prints what it says', async (name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    // A guide names a port of its own, which somebody may have taken.
    const program = blocksOf(text, 'ts')
      .join('\n')
      .replaceAll('14280', String(await freePort()))
    const flags = ['--conditions=portcullis-source', '--input-type=module-typescript', '--eval', program]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { cwd: root })
    expect(stderr).toBe('')
    expect(stdout).toBe(blocksOf(text, 'text').join(''))
  })

  it.each(running)('%s is a program for every Node that runs TypeScript: 22.18 knows no `await using`', (name) => {
    expect(blocksOf(readFileSync(join(folder, name), 'utf8'), 'ts').join('')).not.toContain('await using')
  })

  it('are all named for programs that read', () => {
    const index = readFileSync(join(root, 'llms.txt'), 'utf8')
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    // Guides for maintainers are not packed.
    const packed = guides.filter((name) => !files.includes(`!docs/${name}`))
    expect(packed.filter((name) => !index.includes(`docs/${name}`))).toEqual([])
  })

  it.each(guides)('%s begins with a title of its own, by which the site lists it', (name) => {
    const titleOf = (guide: string) => /^# (.+)\n/.exec(readFileSync(join(folder, guide), 'utf8'))?.[1]
    expect(titleOf(name)).toMatch(/^[A-Z]/)
    expect(guides.filter((other) => titleOf(other) === titleOf(name))).toEqual([name])
  })

  it.each(guides)('%s links to what is there', (name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    const own = [...text.matchAll(/\]\((?!https:)([^)#]+)/g)].map(([, path = '']) => join(folder, path))
    for (const path of own) expect(readFileSync(path, 'utf8')).not.toBe('')
  })
})

describe('the guide to errors', () => {
  const rows = readFileSync(join(folder, 'errors.md'), 'utf8').matchAll(/^\| (`.+?`) \| ([\d, ]+) \|/gm)
  const told = new Map(
    [...rows].flatMap(([, codes = '', statuses = '']) =>
      codes.split(', ').map((code) => [code.replaceAll('`', ''), statuses.split(', ').map(Number)] as const),
    ),
  )

  it.each(Object.entries(STATUS_OF))('tells cause and cure of %s, with status %i', (code, status) => {
    expect(told.get(code)).toContain(status)
  })

  it('tells of no others', () => {
    expect([...told.keys()].filter((code) => !(code in STATUS_OF))).toEqual([])
  })
})

describe('paths of the repository', () => {
  const pathsIn = (text: string) =>
    [...text.matchAll(/`((?:src|test|adapters|scripts|bench)\/[^`\s]*)`/g)].map(([, path = '']) => path)
  // These are for developers of the product, and say so.
  const OF_CONTRIBUTORS = ['agreements.md', 'decisions.md', 'known-bugs.md', 'measurements.md']

  it.each(guides.filter((name) => !OF_CONTRIBUTORS.includes(name)))('are not in %s, which the package has', (name) => {
    expect(pathsIn(readFileSync(join(folder, name), 'utf8'))).toEqual([])
  })

  it.each(OF_CONTRIBUTORS)('that %s names are there', (name) => {
    const paths = pathsIn(readFileSync(join(folder, name), 'utf8'))
    expect(paths.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, `${path}.ts`)))).toEqual([])
  })
})

/** The paths in the tables of the guide to the APIs: of both, of the client API, of the management API. */
function operationsByTable() {
  const [shared = [], client = [], management = []] = readFileSync(join(folder, 'apis.md'), 'utf8')
    .split('| Topic |')
    .slice(1)
    .map((table) => {
      const rows = table.split('\n\n', 1).join()
      return [...rows.matchAll(/`(\/[^`]+)`/g)].map(([, path]) => String(path))
    })
  return [
    ...[...shared, ...client].map((path) => ['client', path] as const),
    ...[...shared, ...management].map((path) => ['management', path] as const),
  ]
}

describe('the guide to the APIs', () => {
  it.each(operationsByTable())('lists operations of the %s API that are served: %s', async (api, path) => {
    expect(Object.keys((await apiDocuments(VERSION))[api].paths ?? {})).toContain(path)
  })
})

it('the guide to permissions names every one that there is', () => {
  const text = readFileSync(join(folder, 'permissions.md'), 'utf8')
  const kinds = new Set(PERMISSIONS.map((permission) => permission.replace(/\.(read|create|update|delete)$/, '')))
  expect([...kinds].filter((kind) => !text.includes(`\`${kind}\``))).toEqual([])
})
