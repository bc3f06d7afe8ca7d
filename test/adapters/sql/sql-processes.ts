import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Storage } from 'portcullis'
import { expect, it } from 'vitest'
import {
  get,
  insertAll,
  machine,
  machines,
  ticket,
  tickets,
} from '../../../adapters/storage/contract/kinds-of-records.ts'

export interface SharedDatabase {
  /** The facts by which a process opens it. */
  readonly where: { readonly file: string } | { readonly url: string; readonly schema: string }
  open(): Promise<Storage>
}

const PROGRAM = fileURLToPath(new URL('../../support/storage-process.ts', import.meta.url))
const PROCESSES = 3
const TICKETS = 60
const ROUNDS = 60

/** Declares the tests of several processes over one database. */
export function describeProcesses(fresh: () => Promise<SharedDatabase>): void {
  it('shows a change to every other process at once, with its entry in the change feed', async () => {
    const { open } = await fresh()
    const [one, two] = await Promise.all([open(), open()])
    for (let round = 1; round <= 20; round += 1) {
      const [writer, reader] = round % 2 === 0 ? [one, two] : [two, one]
      await insertAll(writer, machines, [machine(`m${round}`)])
      expect(await get(reader, machines, `m${round}`)).toEqual(machine(`m${round}`))
      const seen = await reader.read(async (tx) => [tx.revision, await tx.changesSince(round - 1)])
      expect(seen).toEqual([round, [{ revision: round, kind: machines.name, id: `m${round}`, operation: 'insert' }]])
    }
    await Promise.all([one.close(), two.close()])
  })

  it(`consumes once and counts without loss in ${PROCESSES} processes, one of which is paused for a while`, async () => {
    const { open, where } = await fresh()
    const storage = await open()
    const all = Array.from({ length: TICKETS }, (_, index) => ticket(`t${index}`))
    await insertAll(storage, tickets, [...all, ticket('counter')])
    const outcomes = await Promise.all(
      Array.from({ length: PROCESSES }, (_, index) => run(JSON.stringify(where), index === 0)),
    )
    expect(outcomes.map(({ got }) => got).reduce((a, b) => a + b)).toBe(TICKETS)
    expect(outcomes.every(({ isGrowing }) => isGrowing)).toBe(true)
    expect(await get(storage, tickets, 'counter')).toMatchObject({ uses: PROCESSES * ROUNDS })
    const { items } = await storage.read((tx) => tx.collection(tickets).find())
    expect(items.map(({ id }) => id)).toEqual(['counter'])
    await storage.close()
  })
}

function run(where: string, isPaused: boolean): Promise<{ got: number; isGrowing: boolean }> {
  const args = ['--conditions=portcullis-source', PROGRAM, where, String(TICKETS), String(ROUNDS)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (!isPaused || !text.startsWith('ready')) return
    child.kill('SIGSTOP')
    setTimeout(() => child.kill('SIGCONT'), 300)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      const result = output.trim().split('\n').at(-1) ?? ''
      if (code === 0) resolve(JSON.parse(result))
      else reject(new Error(`the process ended with ${code}: ${errors}`))
    })
  })
}
