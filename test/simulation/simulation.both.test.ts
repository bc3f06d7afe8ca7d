import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { IS_SHORT } from '../support/suite.ts'

/** Twenty-four short networks within some ten seconds on two cores, or as many of four hundred as two minutes have. */
const NETWORKS = IS_SHORT
  ? ['--seeds', '1..24', '--steps', '30']
  : ['--seeds', '1..400', '--steps', '40', '--minutes', '2']

/** Plays seeds in processes of their own, as `npm run simulate` does; answers the output and the exit code. */
async function simulated(...options: readonly string[]) {
  const program = new URL('simulate.ts', import.meta.url).pathname
  const process_ = spawn(process.execPath, ['--conditions=portcullis-source', program, ...options])
  const [output, [code]] = await Promise.all([text(process_.stdout), once(process_, 'close')])
  return { output, code }
}

it('finds nothing in networks of which each fault occurred in some', { timeout: 600_000 }, async () => {
  const { output, code } = await simulated(...NETWORKS, '--cores', '2')
  expect(code, output).toBe(0)
  expect(output).toContain('"failed":0')
})

it.skipIf(IS_SHORT)(
  'plays the same run from a seed in every process, byte by byte, alone and after other seeds',
  {
    timeout: 600_000,
  },
  async () => {
    const digests = (output: string) => output.match(/^\d+ [0-9a-f]{64} \d+$/gm)
    const [several, alone] = await Promise.all([
      simulated('--seeds', '1..3', '--digests'),
      simulated('--seed', '3', '--digests'),
    ])
    expect(digests(several.output)).toHaveLength(3)
    expect(digests(several.output)?.[2]).toBe(digests(alone.output)?.[0])
  },
)
