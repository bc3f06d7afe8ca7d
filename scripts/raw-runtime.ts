// Finds clocks, timers, turns of the event loop and random values of the host that do not come through `src/concurrency/process-runtime.ts`, in
// the code that a network consists of. `npm run check` fails where there is one; `npm run raw-runtime` prints them.
import { globSync, readFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)

/** The sources of a network: a simulation of it decides about each of these values. */
const NETWORK = ['src/**/*.ts', 'adapters/network/**/*.ts', 'adapters/storage/{memory,kysely}/**/*.ts']

/**
 * The files that may ask the host: the runtime of the process, and the typed client, whose bytes count in browsers; a simulation calls
 * APIs without it.
 */
const IMPLEMENTS: readonly string[] = ['src/concurrency/process-runtime.ts', 'src/client/session-token.ts']

const RAW: readonly RegExp[] = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bperformance\.(?:now|timeOrigin)\b/,
  /(?<![.#\w])(?:setTimeout|setInterval|setImmediate)\(/,
  /\b(?:node:)?timers(?:\/promises)?'/,
  /\bMath\.random\b/,
  // The WebCrypto that a host gives for certificates is a port already.
  /(?<!\blibrary\.crypto\.)\b(?:randomUUID|randomBytes|randomInt|randomFill(?:Sync)?|getRandomValues)\b/,
  /\bprocess\.(?:hrtime|nextTick)\b/,
  /\bAbortSignal\.timeout\b/,
]

/** A place where code asks the host: its file, line and text. */
export interface RawUse {
  readonly path: string
  readonly line: number
  readonly text: string
}

/** Every raw use in the code of a network. */
export function rawUses(): readonly RawUse[] {
  return globSync(NETWORK, { cwd: root })
    .filter((path) => !IMPLEMENTS.includes(path))
    .sort()
    .flatMap((path) => usesIn(path, readFileSync(new URL(path, root), 'utf8')))
}

/** The raw uses in a source; those in comments and texts for people count for nothing. */
export function usesIn(path: string, source: string): readonly RawUse[] {
  return source.split('\n').flatMap((text, index) => {
    const code = text.replace(/^\s*(?:\*|\/\*\*|\/\/).*/, '').replace(/\bhint: '[^']*'/, '')
    // A method of that name, as sockets have it, is no timer of the host.
    const isMethod = /^\s*setTimeout\(\w+: /.test(code)
    return !isMethod && RAW.some((raw) => raw.test(code)) ? [{ path, line: index + 1, text: text.trim() }] : []
  })
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, line, text } of rawUses()) console.log(`${path}:${line} ${text}`)
}
