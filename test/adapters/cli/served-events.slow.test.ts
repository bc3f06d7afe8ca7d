import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endAll, portcullis, portIn, type Running } from './cli-process.ts'

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' }
const variables = { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password }
const PATIENCE = { timeout: 60_000, interval: 100 }
let cwd: string
let file: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-events-'))
  file = join(cwd, 'events.jsonl')
})
afterEach(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true, maxRetries: 10 })
})

const serve = (...args: readonly string[]) =>
  portcullis(['serve', '--listen', '127.0.0.1:0', '--events', `file:${file}`, ...args], { cwd, variables })

async function administrator(running: Running) {
  const baseUrl = `https://127.0.0.1:${portIn(await running.ready)}`
  const ca = readFileSync(join(cwd, '.portcullis/pki/ca.pem'), 'utf8')
  const client = createManagementClient({ baseUrl, fetch: httpsFetch({ ca }) })
  const { data } = await client.call('POST /authenticate', { query: { method: 'password' }, body: ADMIN })
  return client.withToken(data.token)
}

const holds = (name: string, text: string) => existsSync(name) && readFileSync(name, 'utf8').includes(text)

const creating = (client: Awaited<ReturnType<typeof administrator>>) => async (name: string) =>
  (await client.call('POST /services', { body: { name, encryptionRequired: false } })).data.id

/**
 * Asks whether new events are in the file at its place. The process that answers may open that file after the process that made it: until
 * then its events are in the file that was moved.
 */
function isFollowedBy(create: (name: string) => Promise<string>): () => Promise<boolean> {
  const later: string[] = []
  return async () => {
    later.push(await create(`later ${later.length}`))
    return later.some((id) => holds(file, id))
  }
}

describe.skipIf(process.platform === 'win32')('portcullis serve --events file:…', { timeout: 120_000 }, () => {
  it.each([[1], [2]])('is opened anew at SIGHUP and where it was moved, by %d processes', async (workers) => {
    const running = serve('--workers', String(workers))
    const client = await administrator(running)
    const create = creating(client)
    const first = await create('first')
    await expect.poll(() => holds(file, first), PATIENCE).toBe(true)
    renameSync(file, `${file}.kept`)
    running.kill('SIGHUP')
    await expect.poll(() => existsSync(file), PATIENCE).toBe(true)
    await expect.poll(isFollowedBy(create), PATIENCE).toBe(true)
    const second = await create('second')
    await expect.poll(() => holds(file, second), PATIENCE).toBe(true)
    expect(holds(`${file}.kept`, second)).toBe(false)
    renameSync(file, `${file}.later`)
    await expect.poll(() => existsSync(file), PATIENCE).toBe(true)
    running.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  it('is moved to .1 where it is too large, once by several processes', async () => {
    writeFileSync(file, `${'x'.repeat(1_048_577)}\n`)
    const running = serve('--events-size', '1', '--workers', '2')
    const client = await administrator(running)
    await expect.poll(() => holds(`${file}.1`, 'x'.repeat(100)), PATIENCE).toBe(true)
    await expect.poll(isFollowedBy(creating(client)), PATIENCE).toBe(true)
    expect(statSync(`${file}.1`).size).toBeGreaterThan(1_048_576)
    // A process that looks a moment later than the others takes the lock once more, and finds the file moved.
    await expect.poll(() => existsSync(`${file}.moving`), PATIENCE).toBe(false)
  })
})
