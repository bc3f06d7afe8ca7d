import { fork } from 'node:child_process'
import { once } from 'node:events'
import { databaseSize } from './million/database-size.ts'
import { newPlace, type Place } from './million/opened.ts'
import type { BenchRow } from './row.ts'

const PLACES: readonly Place[] = ['memory', 'sqlite', 'postgres']
const SIZES = ['large', 'million'] as const
const PROGRAM = new URL('./million/measured.ts', import.meta.url)

/**
 * Ten times the identities of the large scenario, on each storage: from the start of a process to its first answer, the
 * questions about access and changes until they are visible, each against the same at 100,000, and the memory it takes.
 */
export async function benchMillion(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const kind of PLACES) {
    const [large = [], million = []] = [await measured(kind, SIZES[0]), await measured(kind, SIZES[1])]
    for (const [number, row] of million.entries()) {
      const same = large[number]
      const ceiling = row.ceiling ?? (same && { name: 'at 100,000 identities', value: same.value })
      rows.push({ ...row, name: `${kind}: ${row.name}`, ...(ceiling && { ceiling }) })
    }
  }
  return rows
}

async function measured(kind: Place, size: string): Promise<BenchRow[]> {
  const { place, remove } = await newPlace(kind)
  try {
    if (kind === 'memory') return await inProcess<BenchRow[]>('measure', kind, place, size, '')
    const token = await inProcess<string>('fill', kind, place, size)
    const { bytes, rows } = await databaseSize(kind, place)
    const details = `${rows} rows`
    return [
      ...(await inProcess<BenchRow[]>('measure', kind, place, size, token)),
      { name: 'database on the disk', value: bytes / 1e6, unit: 'MB', details },
    ]
  } finally {
    await remove()
  }
}

async function inProcess<Answer>(...args: readonly string[]): Promise<Answer> {
  const child = fork(PROGRAM, args, { execArgv: [...process.execArgv, '--expose-gc'] })
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`a process of the benchmark ended with ${code}`)
  })
  const [answer] = await Promise.race([once(child, 'message'), ended])
  await ended.catch(() => undefined)
  return answer as Answer
}
