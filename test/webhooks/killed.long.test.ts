import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createDatabase } from '../support/postgres.ts'
import { type Received, receiver, storyOf } from './receiver.ts'

const SERVICES = 30

it('tells of everything that was committed before the process was killed, in order for each entity', {
  timeout: 180_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-webhooks-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'records.sqlite')
  // Some messages are answered, some never: the process dies with attempts under way.
  const target = await receiver(({ event }, response) => {
    if (target.received.length % 3 !== 0) response.writeHead(204).end()
    else if (event.data.entity?.name === 's1') response.writeHead(500).end()
  })
  const child = toldProcess(file, target.url, String(SERVICES))
  const committed = new Set<string>()
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('committed ')) committed.add(line.slice('committed '.length))
    if (committed.size >= SERVICES - 5 && target.received.length > 0) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  expect(child.signalCode).toBe('SIGKILL')
  const before = target.received.length
  expect(before).toBeLessThan(2 * committed.size)

  target.answering = (_message, response) => response.writeHead(204).end()
  const controller = await createTestController({
    storage: await sqliteStorage(file),
    webhooks: { allow: ['127.0.0.1'] },
    secretsKey: new Uint8Array(32).fill(7),
    // The lease of the process that is gone has run out.
    now: Date.UTC(2026, 0, 1) + 600_000,
    seed: 2,
  })
  onTestFinished(() => controller.close())
  const isWhole = () => [...committed].every((name) => storyOf(target.received).includes(`updated ${name}`))
  for (let turn = 0; turn < 100 && !isWhole(); turn += 1) {
    await controller.elapse(2000)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  for (const name of committed) {
    const own = target.received.filter(({ event }) => event.data.entity?.name === name)
    expect(firstsOf(own), name).toEqual([`created ${name}`, `updated ${name}`])
  }
})

it('goes on by another process over the database when the one that tells is killed, in order for what both wrote', {
  timeout: 300_000,
}, async () => {
  const { url, drop } = await createDatabase()
  onTestFinished(drop)
  const target = await receiver()
  // The first one delivers, for as long as something happens.
  const one = toldProcess(url, target.url, '400')
  const [created, committed] = [new Set<string>(), new Set<string>()]
  noteLines(one, 'created ', created)
  await vi.waitUntil(() => target.received.length > 0, { timeout: 60_000 })
  const other = toldProcess(url, target.url, 'change')
  noteLines(other, 'committed ', committed)
  await vi.waitUntil(() => committed.size > 150, { timeout: 60_000 })
  one.kill('SIGKILL')
  await once(one, 'exit')
  const killedAt = performance.now()
  const toldBefore = target.received.length
  // The process that is left tells of everything, its own changes included, once the lease of the first has run out.
  const isWhole = () => [...created].every((name) => storyOf(target.received).includes(`updated ${name}`))
  await vi.waitUntil(isWhole, { timeout: 120_000, interval: 500 })
  const seconds = Math.round((performance.now() - killedAt) / 1000)
  console.log(
    `${toldBefore} told before the kill, ${target.received.length} ${seconds} s later; ${created.size} services`,
  )
  for (const name of created) {
    const own = target.received.filter(({ event }) => event.data.entity?.name === name)
    expect(firstsOf(own), name).toEqual([`created ${name}`, `updated ${name}`])
  }
  expect(target.received.length).toBeGreaterThan(toldBefore)
})

/** Starts a process that writes and tells; it ends with the test. */
function toldProcess(place: string, url: string, task: string) {
  const script = join(import.meta.dirname, 'told-process.ts')
  const args = ['--conditions=portcullis-source', script, place, url, task]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Notes what follows a word in the lines of a process. */
function noteLines(child: ReturnType<typeof toldProcess>, word: string, noted: Set<string>): void {
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith(word)) noted.add(line.slice(word.length))
  })
}

/** The events that were told for the first time, in order: an event that is told again was told before. */
function firstsOf(received: readonly Received[]): readonly string[] {
  const firsts = new Map(received.toReversed().map((message) => [message.id, message]))
  return storyOf([...firsts.values()].toReversed())
}
