// Fails where the repository has grown past a limit of `limits.json`: npm run check:limits. A limit that cannot be kept is raised there,
// in a commit that says why.
import { globSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type CalledFiles, filesOfRequests } from './files-of-request.ts'
import { type Finding, PROSE_RULES, type ProseRule, proseFindings } from './prose.ts'
import { rawUses } from './raw-runtime.ts'

const root = new URL('..', import.meta.url)
const limits: unknown = JSON.parse(readFileSync(new URL('limits.json', import.meta.url), 'utf8'))

/** The measure of each limit, by its name in `limits.json`. */
const MEASURES: Readonly<Record<string, () => number | Promise<number>>> = {
  /** The first page, which a reader takes in at once. */
  readmeBytes: () => statSync(new URL('README.md', root)).size,
  /** Everything that a maintainer carries: lines of `src` and `adapters`. */
  productLines: () => linesOf('{src,adapters}/**/*.{ts,tsx}'),
  /** Everything that a maintainer of the explorer's page carries: its scripts and its style. */
  pageLines: () => linesOf('adapters/tools/explorer/page/**/*.{ts,tsx,css}'),
  /** Everything that a reader of one request opens: its files, as `npm run files-of-request` names them. */
  filesOfLogin: () => filesOf('a certificate login'),
  filesOfPolicy: () => filesOf('creating a service policy'),
  filesOfList: () => filesOf('listing services'),
  filesOfDial: () => filesOf('a dial, a byte and its end'),
  /** Files of tests that reach into folders of `src`, past the names of the package: a change of the inside breaks them. */
  testsOfInternals: () => testsWith(INTERNALS),
  /** The same without a line `// Internals:` that says why. */
  testsOfInternalsUnexplained: () => testsWith(INTERNALS, /^\/\/ Internals: /m),
  /** Tests with a function `scene` of their own, where `test/support/network.ts` builds networks. */
  scenesOfTests: () => testsWith(/^ *(?:async )?function scene\(/m),
  /** Clocks, timers and random values of the host past the ports: `npm run raw-runtime` prints them. */
  rawRuntimeUses: () => rawUses().length,
  /** Sentences that hide their subject, by their kind: `npm run prose` prints them. */
  ...Object.fromEntries(PROSE_RULES.map((rule) => [`prose:${rule}`, () => sentencesOf(rule)])),
}

function linesOf(pattern: string): number {
  const files = globSync(pattern, { cwd: root }).map((path) => readFileSync(new URL(path, root), 'utf8'))
  return files.reduce((sum, text) => sum + text.split('\n').length - 1, 0)
}

const INTERNALS = /from '(?:[.][.]\/)+src\/[a-z-]+\//

function testsWith(text: RegExp, without?: RegExp): number {
  const files = globSync('test/**/*.ts', { cwd: root }).map((path) => readFileSync(new URL(path, root), 'utf8'))
  return files.filter((file) => text.test(file) && !without?.test(file)).length
}

let prose: readonly Finding[] | undefined

function sentencesOf(rule: ProseRule): number {
  prose ??= proseFindings()
  return prose.filter((finding) => finding.rule === rule).length
}

let requests: Promise<readonly CalledFiles[]> | undefined

async function filesOf(request: string): Promise<number> {
  requests ??= filesOfRequests()
  return (await requests).find(({ name }) => name === request)?.files.length ?? Number.NaN
}

/** The limits that are passed, and the names that only one side has, a line each. */
export async function passedLimits(
  given: object,
  measures: Readonly<Record<string, () => number | Promise<number>>> = MEASURES,
): Promise<readonly string[]> {
  const named: string[] = []
  for (const [name, most] of Object.entries(given)) {
    const found = await measures[name]?.()
    if (found === undefined) named.push(`${name}: nothing measures it`)
    else if (!(found <= Number(most))) named.push(`${name}: ${found}, the limit is ${most}`)
  }
  const unlimited = Object.keys(measures).filter((name) => !Object.hasOwn(given, name))
  return [...named, ...unlimited.map((name) => `${name}: it has no limit`)]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const passed = await passedLimits(Object(limits))
  for (const line of passed) console.error(line)
  process.exitCode = passed.length === 0 ? 0 : 1
}
