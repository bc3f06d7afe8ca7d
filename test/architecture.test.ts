import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

function sources(folder: string): { path: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(root, folder, name), 'utf8') }))
}

/** The rooms of a floor from the lowest to the highest: a room may use what stands before it. The last is the floor itself. */
const ROOMS = {
  'src/engine': [
    'context',
    'records',
    'authority',
    'configs',
    'entities',
    'posture',
    'credentials',
    'identities',
    'routers',
    'services',
    'database',
    'access',
    'graph',
    'timeline',
    'enrollment',
    'login',
    '.',
    'fabric',
    'oidc',
  ],
  'src/http': [
    'exchange',
    'pages',
    'operations',
    'pipeline',
    'shared',
    'management',
    'client',
    'fabric',
    'openapi',
    'portcullis',
    '.',
    'reference',
    'oidc',
  ],
} as const

/** The files that a file imports, as paths below the repository. */
function importsOf({ path, text }: { path: string; text: string }): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    join(dirname(path), target),
  )
}

/** Folders whose files import each other in a circle, each circle as the folders on it. */
function circlesOf(files: readonly { path: string; text: string }[]): string[] {
  const below = new Map<string, Set<string>>()
  for (const file of files) {
    const folder = dirname(file.path)
    const targets = importsOf(file).map((path) => dirname(path))
    below.set(folder, new Set([...(below.get(folder) ?? []), ...targets.filter((target) => target !== folder)]))
  }
  const finished = new Set<string>()
  const circles: string[] = []
  const visit = (folder: string, way: readonly string[]) => {
    if (way.includes(folder)) circles.push([...way.slice(way.indexOf(folder)), folder].join(' -> '))
    if (way.includes(folder) || finished.has(folder)) return
    for (const target of below.get(folder) ?? []) visit(target, [...way, folder])
    finished.add(folder)
  }
  for (const folder of below.keys()) visit(folder, [])
  return circles
}

/** The imports of a floor that lead from one of its rooms to another. */
function arrows(floor: string): { from: string; to: string; path: string }[] {
  const roomOf = (path: string) => {
    const [room = '', ...rest] = relative(floor, path).split('/')
    return rest.length === 0 ? '.' : room
  }
  return sources(floor).flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith(`${floor}/`))
      .map((target) => ({ from: roomOf(file.path), to: roomOf(target), path: file.path }))
      .filter(({ from, to }) => from !== to),
  )
}

/** What a module declares in the words of the field: a resource, an operation, the operations of one. */
const ROW = /^(?:defineResource|defineOperation|crud|crudForAdmins|aliases)\b/

/** What others import by a name of the field: an object, a list, the answer of a function; no function and no literal. */
const NAMED_VALUE = /^(?:\{|\[\s*$|[\w.]+(?:<.*>)?\()/

const product = [...sources('src'), ...sources('adapters')]

describe('the code base', () => {
  it('reads the clock nowhere in the rules and services: `now` is an argument or a port', () => {
    const readers = [...sources('src/domain'), ...sources('src/engine')]
      .filter(({ text }) => /Date\.now\(|new Date\(\)|performance\.now\(/.test(text))
      .map(({ path }) => path)
    expect(readers).toEqual([])
  })

  it('keeps files small: half of them below 100 lines, nine of ten below 250, none above 400', () => {
    const lengths = product.map(({ text }) => text.split('\n').length).sort((a, b) => a - b)
    const quantile = (share: number) => lengths[Math.ceil(lengths.length * share) - 1] ?? 0
    expect(quantile(0.5)).toBeLessThanOrEqual(100)
    expect(quantile(0.9)).toBeLessThanOrEqual(250)
    expect(quantile(1)).toBeLessThanOrEqual(400)
  })

  it('writes in one place: nothing but the door of writes calls the write of the storage', () => {
    const writers = sources('src').filter(({ text }) => /\bstorage\b[^\n]*\.write\(/i.test(text))
    expect(writers.map(({ path }) => path)).toEqual(['src/engine/context/writes.ts'])
    const holders = sources('src').filter(({ text }) =>
      /\b(?:Writable|Write)Storage\b|Pick<Storage, [^>]*'write'/.test(text),
    )
    expect(holders.map(({ path }) => path)).toEqual([])
  })

  it('calls the engine in one way: HTTP asks its methods and reaches for nothing behind them', () => {
    const reaching = sources('src/http').filter(({ text }) => /\bcontextOf\b/.test(text))
    expect(reaching.map(({ path }) => path)).toEqual([])
  })

  it.each(Object.entries(ROOMS))('has no arrow between the rooms of %s that points up', (floor, rooms) => {
    const height = (room: string) => rooms.map(String).indexOf(room)
    const wrong = arrows(floor).filter(({ from, to }) => height(to) < 0 || height(from) < height(to))
    expect(wrong.map(({ path, to }) => `${path} -> ${to}`)).toEqual([])
  })

  it('has at most a dozen files directly in the engine, and at most twenty in a room of it', () => {
    const folders = Map.groupBy(sources('src/engine'), ({ path }) => dirname(path))
    const crowded = [...folders].filter(([folder, files]) => files.length > (folder === 'src/engine' ? 12 : 20))
    expect(crowded.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([])
  })

  it('has no more than twenty files side by side in any folder', () => {
    const folders = Map.groupBy(product, ({ path }) => dirname(path))
    const crowded = [...folders].filter(([, files]) => files.length > 20)
    expect(crowded.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([])
  })

  it('has no circle of folders', () => {
    expect(circlesOf(product)).toEqual([])
  })

  it('is written in one dialect: functions are declared, constants of a module are UPPER_CASE', () => {
    const wrong = product.flatMap(({ path, text }) =>
      [...text.replaceAll(/`[^`]*`/g, '``').matchAll(/^(export )?const ([a-z]\w*)(?:: .*?)? =\s+(.*)/gm)]
        .filter(([, exported, , value = '']) => !(ROW.test(value) || (exported && NAMED_VALUE.test(value))))
        .map(([, , name]) => `${path}: ${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('explains itself: no comment points to a document that is not here', () => {
    const pointing = product.filter(({ text }) => /\(interface[:)]|\bruling R\d|\(R\d+\)|interface\.md/.test(text))
    expect(pointing.map(({ path }) => path)).toEqual([])
  })

  it('gives no type up', () => {
    const given = product.filter(({ text }) => /(:|<|\|) *any\b|\bas any\b|@ts-ignore|@ts-nocheck/.test(text))
    expect(given.map(({ path }) => path)).toEqual([])
  })
})
