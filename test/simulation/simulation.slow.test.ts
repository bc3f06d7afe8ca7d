import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

/** Plays seeds in a process of its own, as `npm run simulate` does; answers its output and its exit code. */
async function simulated(...options: readonly string[]) {
  const program = new URL('simulate.ts', import.meta.url).pathname
  const process_ = spawn(process.execPath, ['--conditions=portcullis-source', program, ...options])
  const [output, [code]] = await Promise.all([text(process_.stdout), once(process_, 'close')])
  return { output, code }
}

it('plays the same run from a seed in every process, byte by byte, alone and after other seeds', {
  timeout: 600_000,
}, async () => {
  const digests = (output: string) => output.match(/^\d+ [0-9a-f]{64} \d+$/gm)
  const [several, alone] = await Promise.all([
    simulated('--seeds', '1..3', '--digests'),
    simulated('--seed', '3', '--digests'),
  ])
  expect(digests(several.output)).toHaveLength(3)
  expect(digests(several.output)?.[2]).toBe(digests(alone.output)?.[0])
})

it('finds nothing in the first networks', { timeout: 600_000 }, async () => {
  const { output, code } = await simulated('--seeds', '1..6')
  expect(output).toContain('"failed":0')
  expect(code).toBe(0)
})
