import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderArrows } from '../scripts/folder-arrows.ts'
import { BELOW_SERVICES, floorOf } from './support/floors.ts'

const root = join(import.meta.dirname, '..')

interface Source {
  readonly path: string
  readonly text: string
}

function sources(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(root, folder, name), 'utf8') }))
}

/** The files that a file imports, as paths below the repository. */
function importsOf({ path, text }: Source): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    join(dirname(path), target),
  )
}

/** The files whose names a file takes as it is loaded: neither what it loads when it is asked, nor what it starts with. */
function loadedAtOnce({ path, text }: Source): string[] {
  return [...text.matchAll(/\bfrom '(\.[^']+)'/g)].map(([, target = '']) => join(dirname(path), target))
}

/** Declarations of a module in the words of the field: a resource, an operation, the operations of one. */
const ROW = /^(?:defineResource|defineOperation|crud|crudForAdmins|aliases)\b/

/** Values that others import by a name of the field: an object, a list, the answer of a function; no function and no literal. */
const NAMED_VALUE = /^(?:\{|\[\s*$|[\w.]+(?:<.*>)?\()/

/**
 * Topics have a folder on each floor, however few files stand there: that is where a reader looks. Frameworks have an adapter of one
 * file, and each its folder: that is what an import names. The page is a project of its own.
 */
const FOLDERS_OF_ONE =
  /^src$|^src\/(?:facts|apis)\/[^/]+$|^src\/(?:network|insight)$|^adapters\/(?:web\/(?:express|fastify|hono)|tools\/opentelemetry|tools\/explorer(?:\/.*)?)$/

const product = [...sources('src'), ...sources('adapters')]
const written = [...product, ...['test', 'examples', 'scripts', 'bench'].flatMap((folder) => sources(folder))]
const library = product.filter(({ path }) => !path.startsWith('adapters/tools/explorer/page/'))

/** Constants of the program that a module knows: schemas, documents, and a certificate that never changes. */
const KNOWN_OF_CONSTANTS = [
  'src/http/openapi/openapi-schema.ts',
  'src/kernel/declaration/words.ts',
  'src/apis/network/specs.rows.ts',
  'src/platform/x509/certificate.ts',
]

/** Modules with a variable of their own: what is loaded once, and doors that a class opens. Nothing in them belongs to a request. */
const LOADED_ONCE = [
  'adapters/network/sdk/end-to-end.ts',
  'adapters/tools/testing/global-setup.ts',
  'src/apis/route-finder.ts',
  'src/controller/guarded-engine.ts',
  'src/engine/entity-services.ts',
  'src/platform/jose-library.ts',
  'src/platform/x509/asn1-structures.ts',
  'src/platform/x509/native-crypto.ts',
]

describe('the code base', () => {
  it('reads the clock nowhere in the rules and services: `now` is an argument or a port', () => {
    const readers = sources('src')
      .filter(({ path }) => BELOW_SERVICES.has(floorOf(path)) || floorOf(path) === 'services')
      .filter(({ text }) => /Date\.now\(|new Date\(\)|performance\.now\(/.test(text))
      // The runtime of the process, which no service imports.
      .filter(({ path }) => path !== 'src/concurrency/process-runtime.ts')
      .map(({ path }) => path)
    expect(readers).toEqual([])
  })

  it('keeps files of a size to be read: half of them below 130 lines, nine of ten below 250, none above 400', () => {
    const lengths = library.map(({ text }) => text.split('\n').length).sort((a, b) => a - b)
    const quantile = (share: number) => lengths[Math.ceil(lengths.length * share) - 1] ?? 0
    expect(quantile(0.5)).toBeLessThanOrEqual(130)
    expect(quantile(0.9)).toBeLessThanOrEqual(250)
    expect(quantile(1)).toBeLessThanOrEqual(400)
  })

  it('cuts no story into slivers: who alone imports a neighbour of fewer than 40 lines, loaded at once, holds it in its own file', () => {
    const importers = Map.groupBy(
      library
        .flatMap((file) => loadedAtOnce(file).map((target) => ({ target, path: file.path })))
        .filter(({ target, path }) => path !== join(dirname(target), 'index.ts')),
      ({ target }) => target,
    )
    const slivers = library.filter(({ path, text }) => {
      const users = [...new Set((importers.get(path) ?? []).map((use) => use.path))]
      return (
        !/^src\/apis\/|\/index\.ts$/.test(path) &&
        text.split('\n').length < 40 &&
        users.length === 1 &&
        dirname(users[0] ?? '') === dirname(path)
      )
    })
    expect(slivers.map(({ path }) => path)).toEqual([])
  })

  it('opens a folder for three files or more, and holds no more than twenty-two side by side', () => {
    const folders = Map.groupBy(library, ({ path }) => dirname(path))
    const wrong = [...folders].filter(
      ([folder, files]) => files.length > 22 || (files.length < 3 && !FOLDERS_OF_ONE.test(folder)),
    )
    expect(wrong.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([])
  })

  it('gives every file of the library a name of its own; a command of the command line has the name of what it asks for', () => {
    const named = library.filter(({ path }) => !path.startsWith('adapters/tools/cli/commands/'))
    const names = Map.groupBy(named, ({ path }) => basename(path))
    const twice = [...names].filter(([name, files]) => name !== 'index.ts' && files.length > 1)
    expect(twice.map(([, files]) => files.map(({ path }) => path).join(' '))).toEqual([])
  })

  it('writes in one place: nothing but the door of writes calls the write of the storage', () => {
    const writers = sources('src').filter(({ text }) => /\bstorage\b[^\n]*\.write\(/i.test(text))
    expect(writers.map(({ path }) => path)).toEqual(['src/context/writes.ts'])
    const holders = sources('src').filter(({ text }) =>
      /\b(?:Writable|Write)Storage\b|Pick<Storage, [^>]*'write'/.test(text),
    )
    expect(holders.map(({ path }) => path)).toEqual([])
  })

  it('calls the engine in one way: rows ask its methods and reach for nothing behind them', () => {
    const reaching = sources('src').filter(
      ({ path, text }) => floorOf(path) === 'operations' && /\bcontextOf\b/.test(text),
    )
    expect(reaching.map(({ path }) => path)).toEqual([])
  })

  it('has folders that are a map: side by side they have one order, and `ARCHITECTURE.md` draws it', () => {
    const drawn = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
    const found = folderArrows()
    expect(found.flatMap(({ rings }) => rings)).toEqual([])
    const lines = new Map(
      [...drawn.matchAll(/^(src|adapters)(?:\/[\w/-]+)?: .*$/gm)].map(([line]) => {
        const [folder = '', order = ''] = line.split(': ')
        return [folder, order.split(' ')]
      }),
    )
    expect([...lines.keys()]).toEqual(expect.arrayContaining(['src', 'src/facts', 'adapters']))
    const wrong = found.flatMap(({ folder, arrows }) => {
      const order = lines.get(folder)
      if (order === undefined) return []
      return [...arrows].flatMap(([from, targets]) =>
        [...targets]
          .filter((to) => order.indexOf(to) < 0 || order.indexOf(from) <= order.indexOf(to))
          .map((to) => `${folder}: ${from} -> ${to}`),
      )
    })
    expect(wrong).toEqual([])
  })

  it('has a map without dead ends: every path of `ARCHITECTURE.md` leads to a file or a folder', () => {
    const drawn = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').replaceAll(/^```.*?^```/gms, '')
    const files = [...product, ...sources('test')].map(({ path }) => path)
    const isThere = (path: string) =>
      files.some((file) => `/${file}`.includes(`/${path}/`) || `/${file}`.endsWith(`/${path}`))
    const paths = [...drawn.matchAll(/`([\w-]+(?:\/[\w.-]+)+)\/?`/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(50)
    expect(paths.filter((path) => !/^(?:portcullis|docs|scripts)\//.test(path) && !isThere(path))).toEqual([])
  })

  it('keeps state where it is owned: no module remembers objects by itself but what it knows of constants', () => {
    const keeping = sources('src').filter(({ text }) => /^(?:export )?const \w+[^\n]*= new WeakMap\b/m.test(text))
    expect(keeping.map(({ path }) => path).sort()).toEqual(KNOWN_OF_CONSTANTS.toSorted())
    const changing = library.filter(({ text }) => /^(?:export )?let /m.test(text))
    expect(changing.map(({ path }) => path).sort()).toEqual(LOADED_ONCE.toSorted())
  })

  it('is written in one dialect: functions are declared, constants of a module are UPPER_CASE', () => {
    const wrong = product.flatMap(({ path, text }) =>
      [...text.replaceAll(/`[^`]*`/g, '``').matchAll(/^(export )?const ([a-z]\w*)(?:: .*?)? =\s+(.*)/gm)]
        .filter(([, exported, , value = '']) => !(ROW.test(value) || (exported && NAMED_VALUE.test(value))))
        .map(([, , name]) => `${path}: ${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('explains itself: no comment and no test points to a document that is not here', () => {
    const pointing = [...product, ...sources('test'), ...sources('bench'), ...sources('examples')]
      .filter(({ path }) => path !== 'test/architecture.test.ts')
      .filter(({ text }) =>
        /\(interface[:)]|\bruling R\d|\bR\d\d\)|\bwire \d+\.\d|interface\.md|posture \d\.\d/i.test(text),
      )
    expect(pointing.map(({ path }) => path)).toEqual([])
  })

  it('says it in plain English: no comment begins with "What", none says "so many", "whoever" or "for who"', () => {
    const unclear = written.flatMap(({ path, text }) =>
      [
        ...text.matchAll(
          /(?:\/\*\*|\/\/|^ *\*) *(?:What |[^\n]*\b(?:[Ss]o many|[Ss]o much|manieth|of whom|as of which|into being|[Ww]hoever|(?:of|for|to) who)\b)[^\n]*/gm,
        ),
      ].map(([comment]) => `${path}: ${comment.trim()}`),
    )
    expect(unclear).toEqual([])
  })

  it('runs on Node 20: nothing of the library calls what later versions brought', () => {
    const later = library.filter(({ text }) =>
      /\b(?:(?:Map|Object)\.groupBy|Array\.fromAsync|Promise\.try)\(/.test(text),
    )
    expect(later.map(({ path }) => path)).toEqual([])
  })

  it('is tested through its doors: a world is a test controller or one made as a host makes it, by the names that packages have', () => {
    const doors = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports as Readonly<
      Record<string, unknown>
    >
    const paths = Object.values(doors).flatMap((door) =>
      typeof door === 'object' && door !== null ? [join(String(Reflect.get(door, 'portcullis-source')))] : [],
    )
    expect(paths).toContain('src/index.ts')
    const around = [...sources('test'), ...sources('bench'), ...sources('examples')].flatMap((file) =>
      importsOf(file)
        .filter((target) => paths.includes(target) || target === 'src/controller/compose-engine.ts')
        .map((target) => `${file.path} -> ${target}`),
    )
    expect(around).toEqual([])
  })

  it('gives no type up', () => {
    const code = (text: string) => text.replaceAll(/^\s*(?:\*|\/\*|\/\/(?! *@ts)).*$/gm, '')
    const given = product.filter(({ text }) => /(:|<|\|) *any\b|\bas any\b|@ts-ignore|@ts-nocheck/.test(code(text)))
    expect(given.map(({ path }) => path)).toEqual([])
  })
})
