import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { httpsClient } from '../../support/https-fetch.ts'
import { endAll, portcullis, portIn, type Running, workersOf } from './cli-process.ts'

const PATIENCE_MS = 120_000
let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-probes-'))
})
afterEach(endAll)
afterAll(() => rm(cwd, { recursive: true, force: true }))

/** Asks a served controller on a connection of its own, which any of its workers takes. */
async function ask(running: Running, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const { fetch, close } = httpsClient({ port: portIn(await running.ready) })
  const answer = await fetch(path, { headers: { connection: 'close' } })
  close()
  return { status: answer.status, text: await answer.text() }
}

const sumOf = (text: string, name: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith(name) && !line.startsWith('#'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)

describe.skipIf(process.platform !== 'linux')('the probes of portcullis serve', { timeout: PATIENCE_MS }, () => {
  it('show the figures of all workers whichever answers, and lose none with a worker that ends', async () => {
    const running = portcullis(['serve', '--listen', '127.0.0.1:0', '--workers', '2', '--probes'], { cwd })
    await running.ready
    for (let count = 0; count < 20; count += 1) await ask(running, '/version')
    const counted = async () => sumOf((await ask(running, '/metrics')).text, 'portcullis_requests_total')
    const seen = [await counted(), await counted(), await counted(), await counted()]
    expect(seen[0]).toBeGreaterThanOrEqual(20)
    expect(seen).toEqual(seen.toSorted((one, other) => one - other))
    const { text } = await ask(running, '/metrics')
    expect(text.match(/^portcullis_uptime_seconds /gm)).toHaveLength(1)
    expect(text).toMatch(/^process_open_fds [1-9]/m)
    const [first = 0] = workersOf(running.pid)
    process.kill(first, 'SIGKILL')
    await expect.poll(() => running.stderrSoFar(), { timeout: PATIENCE_MS }).toContain('started again')
    await expect.poll(async () => workersOf(running.pid).length, { timeout: PATIENCE_MS }).toBe(2)
    expect(await counted()).toBeGreaterThanOrEqual(seen.at(-1) ?? 0)
    if (spawnSync('promtool', ['--version']).status === 0) {
      const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
      expect(`${checked.stdout}${checked.stderr}`).not.toMatch(/wire_texts|error|parsing/)
    }
  })

  it.skipIf(spawnSync('prlimit', ['--version']).status !== 0)(
    'tell that hardly a file descriptor is left, and that there are enough again',
    async () => {
      const running = portcullis(['serve', '--listen', '127.0.0.1:0', '--storage', 'memory', '--probes'], { cwd })
      await running.ready
      await expect.poll(async () => (await ask(running, '/readyz')).status).toBe(200)
      const allow = (count: number) =>
        expect(spawnSync('prlimit', ['--pid', String(running.pid), `--nofile=${count}:20000`]).status).toBe(0)
      allow(50)
      const { status, text } = await ask(running, '/readyz')
      expect([status, text]).toEqual([503, expect.stringMatching(/^\d+ of 50 file descriptors are in use\n$/)])
      await expect.poll(() => running.stderrSoFar(), { timeout: 20_000 }).toContain('connections cannot be taken')
      allow(10_000)
      expect((await ask(running, '/readyz')).status).toBe(200)
      await expect.poll(() => running.stderrSoFar(), { timeout: 20_000 }).toContain('there are enough again')
    },
  )
})
