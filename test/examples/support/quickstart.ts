import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

/** The runtime of the package, as `npm start` uses it. */
export const node = { path: resolve(root, 'node_modules/.bin/node'), args: ['--conditions=portcullis-source'] } as const

const main = resolve(root, 'examples/quickstart/main.ts')

/** A running quickstart and what it has said so far. */
export interface Quickstart {
  readonly process: ReturnType<typeof spawn>
  readonly exited: Promise<number | null>
  output(): string
  /** Resolves when the output holds `text`; rejects when the process ends before. */
  said(text: string): Promise<void>
}

/** Starts the quickstart in a folder of its own. */
export function startQuickstart(
  directory: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Quickstart {
  const child = spawn(node.path, [...node.args, main, ...args], {
    cwd: directory,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const exited = once(child, 'close').then(([code]) => code)
  return {
    process: child,
    exited,
    output: () => output,
    said: async (text) => {
      const ended = exited.then(() => 'ended')
      while (!output.includes(text)) {
        if ((await Promise.race([once(child.stdout, 'data'), ended])) === 'ended' && !output.includes(text)) {
          throw new Error(`the quickstart ended before it said '${text}':\n${output}`)
        }
      }
    },
  }
}
