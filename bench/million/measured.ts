// A process of the benchmark `million`: fills a storage, or opens it as a controller does after a start and measures. Writes its
// rows to the parent as a message.
import { readFileSync } from 'node:fs'
import { createTestController } from 'portcullis/testing'
import type { BenchRow } from '../row.ts'
import { fillNetwork, LARGE, memoryMegabytes, type Size, sessionOf } from '../scale/network.ts'
import { ask } from '../scale/timing.ts'
import { accessQuestions, changes, serviceList } from '../scale.ts'
import { openAt, type Place } from './opened.ts'

/** Ten times the identities of the large scenario. */
const MILLION: Size = { identities: 1_000_000, services: 5_000, routers: 500, policies: [500, 250, 100] }

const [work = '', kind = 'memory', place = '', sizeName = 'million', token = ''] = process.argv.slice(2)
const size = sizeName === 'million' ? MILLION : LARGE
const storage = await openAt(kind as Place, place)

/** Fills the storage; the token of a session of an identity is its answer. */
async function fill(): Promise<string> {
  await fillNetwork(storage, size)
  const controller = await createTestController({ storage, clock: 'live' })
  return sessionOf(controller, 'i7')
}

async function measure(): Promise<BenchRow[]> {
  const begin = performance.now()
  const session = kind === 'memory' ? await fill() : token
  const controller = await createTestController({ storage, clock: 'live' })
  await ask(controller, '/edge/client/v1/services?limit=100', session)
  const start = kind === 'memory' ? performance.now() - begin : performance.now()
  const rows: BenchRow[] = [
    { name: kind === 'memory' ? 'build, first answer' : 'start to first answer', value: start / 1000, unit: 's' },
    ...memory('after the start'),
    await serviceList({ controller, token: session }, 'warm'),
    ...(await accessQuestions({ controller, size })),
    ...(await changes({ controller, token: session })),
    ...memory('after the questions and changes'),
  ]
  await controller.close()
  return rows
}

/** Bytes that the process holds, and bytes of it that are alive. The garbage collector runs after the first is taken. */
function memory(when: string): BenchRow[] {
  const resident = process.memoryUsage().rss / 1e6
  const ownKb = Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
  const own = Math.round((ownKb * 1024) / 1e6)
  const alive = memoryMegabytes()
  return [
    {
      name: `resident ${when}`,
      value: resident,
      unit: 'MB',
      ceiling: { name: 'what is alive', value: alive },
      details: `${own} MB of it without the pages of files, which the system takes back when it needs them`,
    },
    { name: `alive for 1,000 identities ${when}`, value: (alive / size.identities) * 1e6, unit: 'kB' },
  ]
}

process.send?.(work === 'fill' ? await fill() : await measure())
process.disconnect?.()
await storage.close()
