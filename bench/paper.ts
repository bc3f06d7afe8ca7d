import { createTestController } from 'portcullis/testing'
import { modelCodec } from '../adapters/network/fabric/messages/model-codec.ts'
import { engineOf } from '../src/controller/guarded-engine.ts'
import { contextOf } from '../src/engine/entity-services.ts'
import { DataModel } from '../src/fabric/model/data-model.ts'
import { databaseSize } from './million/database-size.ts'
import { newPlace, openAt } from './million/opened.ts'
import type { BenchRow } from './row.ts'
import { fillNetwork, LARGE, memoryMegabytes, type Size } from './scale/network.ts'

/** The needs that grow with the identities of a network. */
interface Needs {
  readonly 'database, MB': number
  readonly 'rows of the database, thousands': number
  readonly 'access index, MB': number
  readonly 'processor time to build the index, s': number
  readonly 'whole model for one router, MB': number
}

const SIZES: readonly Size[] = [
  { ...LARGE, identities: 10_000 },
  LARGE,
  // As in `million`, with the services of the others: what grows here grows by identities alone.
  { ...LARGE, identities: 1_000_000 },
]

/**
 * The needs of networks of 10,000, 100,000 and 1,000,000 identities on SQLite. Beside those of the largest stands what the line
 * through the two others foretells: the formulas of docs/scale.md.
 */
export async function benchPaper(): Promise<BenchRow[]> {
  const all: Needs[] = []
  for (const size of SIZES) all.push(await needsOf(size))
  const [small, large, million] = all
  if (small === undefined || large === undefined || million === undefined) return []
  const names = Object.keys(million) as (keyof Needs)[]
  return names.map((name) => {
    const each = (large[name] - small[name]) / 90_000
    const base = small[name] - each * 10_000
    const details = `base ${base.toFixed(2)}, by 1,000 identities ${(each * 1000).toFixed(4)}; at 100,000: ${large[name].toFixed(1)}`
    const ceiling = { name: 'foretold by 10,000 and 100,000', value: base + each * 1_000_000 }
    return { name: `1,000,000 identities: ${name}`, value: million[name], unit: '', ceiling, details }
  })
}

async function needsOf(size: Size): Promise<Needs> {
  const { place, remove } = await newPlace('sqlite')
  const storage = await openAt('sqlite', place)
  await fillNetwork(storage, size)
  const controller = await createTestController({ storage, clock: 'live' })
  const context = contextOf(engineOf(controller.engine))
  const before = memoryMegabytes()
  const begun = process.cpuUsage().user
  await storage.read((tx) => context.access.at(tx))
  const built = (process.cpuUsage().user - begun) / 1e6
  const index = memoryMegabytes() - before
  const { written } = await new DataModel(context, modelCodec).whole()
  const model = written.events.reduce((sum, { length }) => sum + length, 0)
  const { bytes, rows } = await databaseSize('sqlite', place)
  await controller.close()
  await storage.close()
  await remove()
  return {
    'database, MB': bytes / 1e6,
    'rows of the database, thousands': rows / 1000,
    'access index, MB': index,
    'processor time to build the index, s': built,
    'whole model for one router, MB': model / 1e6,
  }
}
