import { cp, glob, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Tree, treeOf } from './tree.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The name under which the guard compares with this tree. */
export const RAW = 'raw'
const PORTS = 'src/concurrency/process-runtime.ts'

/** The calls of the runtime ports, and the functions of the host that stand for them. */
const CALLS: Readonly<Record<string, string>> = {
  now: 'Date.now',
  fraction: 'Math.random',
  later: 'setImmediate',
  uuid: 'crypto.randomUUID',
  timer: 'rawTimer',
  interval: 'rawInterval',
  soon: 'rawSoon',
  bytes: 'rawBytes',
}
const FUNCTIONS = ['rawTimer', 'rawInterval', 'rawSoon', 'rawBytes']

/** The code around a timer of the host, as each place had it before there were ports. */
const HOST = `
export function rawTimer(ms: number, work: () => void, holdsProcess = false): Cancel {
  const timer = setTimeout(work, ms)
  if (!holdsProcess) timer.unref()
  return () => clearTimeout(timer)
}
export function rawInterval(ms: number, work: () => void, holdsProcess = false): Cancel {
  const timer = setInterval(work, ms)
  if (!holdsProcess) timer.unref()
  return () => clearInterval(timer)
}
export function rawSoon(work: () => void): void {
  queueMicrotask(() => process.nextTick(work))
}
export function rawBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length))
}
`

/** A copy of this tree in which the functions of the host are called without the runtime ports. */
export async function rawTree(folder: string): Promise<Tree> {
  await mkdir(folder)
  for (const part of ['src', 'adapters', 'package.json', 'model.schema.json', 'LICENSE'])
    await cp(join(ROOT, part), join(folder, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  let calls = 0
  for await (const path of glob('{src,adapters}/**/*.ts', { cwd: folder })) {
    const source = await readFile(join(folder, path), 'utf8')
    if (path === PORTS) await writeFile(join(folder, path), source + HOST)
    if (path === PORTS || !source.includes('process-runtime.ts')) continue
    const raw = withoutPorts(source, () => {
      calls += 1
    })
    await writeFile(join(folder, path), raw)
  }
  return treeOf(`${calls} calls of the host without ports`, folder)
}

/** A source with calls of the host in place of those of the ports; `replaced` is called for each. */
function withoutPorts(source: string, replaced: () => void): string {
  return source
    .replace(/import \{([^}]*)\bruntime\b([^}]*)\} from '([^']*\/process-runtime\.ts)'/, (_, before, after, path) => {
      return `import {${before}${FUNCTIONS.join(', ')}${after}} from '${path}'`
    })
    .replace(/(?<![-/.\w])runtime\.(\w+)(\()?/g, (whole, name, call) => {
      replaced()
      // A method that is passed on needs its object.
      if (name === 'monotonic') return call === undefined ? '(() => performance.now())' : 'performance.now('
      if (name === 'uuid' && call === undefined) return '(() => crypto.randomUUID())'
      return `${CALLS[name] ?? whole}${call ?? ''}`
    })
}
