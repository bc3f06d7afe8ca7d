import { createTestController, type TestController } from 'portcullis/testing'
import { newPlace, openAt, type Place } from '../million/opened.ts'
import type { BenchRow } from '../row.ts'
import { fillNetwork, MEDIUM, sessionOf } from '../scale/network.ts'
import { adminToken, ask, cpuMs } from '../scale/timing.ts'

const PLACES: readonly Place[] = ['memory', 'sqlite', 'postgres']
const RUNS = 5
const ROUNDS = 100
/** Requests that are on their way at once, as clients on kept connections send them. */
const AT_ONCE = [16, 1]

interface Asked {
  readonly controller: TestController
  readonly device: string
  readonly admin: string
}

const QUESTIONS: readonly (readonly [name: string, ask: (asked: Asked, round: number) => Promise<unknown>])[] = [
  [
    'GET one service of 2,000 as an administrator',
    ({ controller, admin }, round) =>
      ask(controller, `/edge/management/v1/services/s${(round * 7919) % MEDIUM.services}`, admin),
  ],
  ['current-identity', ({ controller, device }) => ask(controller, '/edge/client/v1/current-identity', device)],
  [
    'service-updates',
    ({ controller, device }) => ask(controller, '/edge/client/v1/current-api-session/service-updates', device),
  ],
  [
    'list 20 services as an identity',
    ({ controller, device }) => ask(controller, '/edge/client/v1/services?limit=20', device),
  ],
]

/** Requests that read, on SQL against the same on memory storage, in processor time of this process; the cache is warm. */
export async function* benchSqlReads(): AsyncGenerator<BenchRow> {
  const opened = await Promise.all(PLACES.map(open))
  try {
    for (const [name, question, atOnce] of QUESTIONS.flatMap((row) =>
      AT_ONCE.map((count) => [...row, count] as const),
    )) {
      const costs = opened.map((): number[] => [])
      let round = 0
      const next = () => {
        round += 1
        return round
      }
      // Takes turns, so that what slows the machine for a while slows all.
      for (let run = 0; run < RUNS; run += 1) {
        for (const [index, { asked }] of opened.entries()) {
          const some = () => Promise.all(Array.from({ length: atOnce }, () => question(asked, next())))
          costs[index]?.push((await cpuMs((ROUNDS * 16) / atOnce, some)) / atOnce)
        }
      }
      const [memory = Number.NaN, ...others] = costs.map(median)
      for (const [index, value] of others.entries()) {
        yield {
          name: `${PLACES[index + 1]}: ${name}, ${atOnce} at once`,
          value,
          unit: 'ms CPU',
          ceiling: { name: 'on memory storage', value: memory },
          ...(atOnce > 1 && { target: '≤0.05 ms over memory' }),
          details: `${(value - memory).toFixed(3)} ms over memory`,
        }
      }
    }
  } finally {
    for (const { close } of opened) await close()
  }
}

async function open(kind: Place): Promise<{ readonly asked: Asked; readonly close: () => Promise<void> }> {
  const { place, remove } = await newPlace(kind)
  const storage = await openAt(kind, place)
  await fillNetwork(storage, MEDIUM)
  const controller = await createTestController({ storage, clock: 'live' })
  const asked = { controller, admin: await adminToken(controller), device: await sessionOf(controller, 'i7') }
  const close = async () => {
    await controller.close()
    await storage.close()
    await remove()
  }
  return { asked, close }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
