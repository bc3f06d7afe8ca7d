// One server under a mixed load for as long as PORTCULLIS_SOAK_MINUTES says (60), at PORTCULLIS_SOAK_RATE requests a second (40):
//   npm run test:soak                        PORTCULLIS_SOAK_MINUTES=10 PORTCULLIS_SOAK_STORAGE=postgres npm run test:soak
// Prints what the server holds once a minute. Fails when more is alive at the end than in the minutes after it became warm.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '../test/support/postgres.ts'
import { mixedLoad } from './soak/mixed-load.ts'
import { createNetwork } from './wire/network.ts'
import { type ServerMemory, startPortcullis } from './wire/processes.ts'

const MINUTES = Number(process.env.PORTCULLIS_SOAK_MINUTES ?? 60)
const RATE = Number(process.env.PORTCULLIS_SOAK_RATE ?? 40)
const MINUTE_MS = Number(process.env.PORTCULLIS_SOAK_SAMPLE_MS ?? 60_000)
/** Caches and compiled code have their size after a sixth of the time. */
const WARM = Math.ceil(MINUTES / 6)
/** The heap that is alive may grow by this part of itself. */
const TOLERANCE = 0.1

const directory = await mkdtemp(join(tmpdir(), 'portcullis-soak-'))
const database = process.env.PORTCULLIS_SOAK_STORAGE === 'postgres' ? await createDatabase() : undefined
const server = await startPortcullis(directory, database?.url ?? 'sqlite:soak.sqlite')
const samples: ServerMemory[] = []
try {
  const network = await createNetwork(server.port, join(directory, 'pki'))
  const load = await mixedLoad(server.port, join(directory, 'pki'), network)
  const begin = performance.now()
  let sent = 0
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    for (;;) {
      const elapsed = performance.now() - begin
      if (elapsed >= minute * MINUTE_MS) break
      if (sent < (elapsed / 1000) * RATE) sent += await load.step()
      else await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const sample = await server.memory()
    samples.push(sample)
    const cpuMs = (await server.cpuMs()) / Math.max(sent, 1)
    console.log(
      `minute ${minute}: ${sent} requests, resident ${mb(sample.resident)} MB, alive ${mb(sample.alive)} MB, ${cpuMs.toFixed(2)} ms of CPU a request`,
    )
  }
} finally {
  await server.stop()
  await database?.drop()
  await rm(directory, { recursive: true })
}
const warm = least(samples.slice(WARM, 2 * WARM + 1))
const end = least(samples.slice(-WARM - 1))
const growth = end / warm - 1
console.log(`alive: ${mb(warm)} MB when warm, ${mb(end)} MB at the end (${(growth * 100).toFixed(1)} %)`)
if (growth > TOLERANCE) process.exitCode = 1

function least(some: readonly ServerMemory[]): number {
  return Math.min(...some.map(({ alive }) => alive))
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
