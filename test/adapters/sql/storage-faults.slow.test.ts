import type { Storage } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { RECORD_KINDS } from 'portcullis/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { credentialScript } from '../../support/credential-script.ts'
import { networkScript, type ScriptedRequest } from '../../support/network-script.ts'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { type ScriptedNetwork, startNetwork } from '../../support/scripted-network.ts'

const credentials = await credentialScript()
const script = [...networkScript(), ...credentials.requests]

const IS_MATRIX = process.env.PORTCULLIS_STORAGE_MATRIX === 'all'
/** In a server each call takes longer: unless all are asked for, one call in this number fails. */
const SERVER_STRIDE = IS_MATRIX ? 1 : 20

let database: PostgresDatabase
let schemas = 0
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

/**
 * The outcome of a request: its answer, the length of the list in it, and which kinds of records changed how. The first look at the
 * services of a new API session is no part of it: it may be taken later. Nor is the audit trail, which is sealed later, nor that an identity
 * was seen, which the first of several logins of a day notes.
 */
interface Outcome {
  readonly status: number
  readonly retryAfter: string | null
  readonly totalCount: unknown
  readonly effect: readonly string[]
}

async function outcomeOf(network: ScriptedNetwork, request: ScriptedRequest, prepare: () => void): Promise<Outcome> {
  const sent = await network.resolve(request)
  const before = await network.storage.read(async (tx) => tx.revision)
  prepare()
  const { status, retryAfter, meta } = await network.send(sent)
  network.faulty.fault = undefined
  const isLate = status === 503 && request.isFollowedUp === true
  if (isLate) await network.elapse(60_000)
  const changes = await network.storage.read((tx) => tx.changesSince(before))
  if (isLate) await network.useSessions()
  const owed = (changes ?? []).filter(({ kind }) => !isLater(kind))
  const effect = [...new Set(owed.map(({ kind, operation }) => `${operation} ${kind}`))].sort()
  return { status, retryAfter, totalCount: meta.pagination?.totalCount, effect }
}

function isLater(kind: string): boolean {
  return kind === 'service-views' || kind === 'sightings' || kind.startsWith('audit-')
}

const noFault = () => undefined

describe.each<{ name: string; stride: number; open: () => Promise<Storage> }>([
  { name: 'memory', stride: 1, open: async () => memoryStorage() },
  { name: 'SQLite', stride: 1, open: () => sqliteStorage(':memory:') },
  {
    name: 'PostgreSQL',
    stride: SERVER_STRIDE,
    open: () => postgresStorage({ connection: database.url, schema: `faults_${++schemas}` }),
  },
])('$name', ({ stride, open }) => {
  it(`does all or nothing when any one storage call of ${script.length} requests fails`, async () => {
    expect(script.length).toBeGreaterThanOrEqual(150)
    const undisturbed = await startNetwork(await open(), credentials.places)
    const network = await startNetwork(await open(), credentials.places)
    let faults = 0
    for (const [index, request] of script.entries()) {
      let before = 0
      const expected = await outcomeOf(undisturbed, request, () => {
        before = undisturbed.faulty.calls
      })
      expect(expected.status, `${request.method} ${request.path}`).toBeLessThan(300)
      faults += await failEachCall(network, request, expected, undisturbed.faulty.calls - before, {
        stride,
        first: index % stride,
      })
    }
    expect(faults).toBeGreaterThan((script.length * 6) / stride)
    expect(await countsOf(network.storage)).toEqual(await countsOf(undisturbed.storage))
    await Promise.all([network.close(), undisturbed.close()])
  }, 1_800_000)
})

/**
 * Sends a request again and again, each time with another of its storage calls failing, until it has its effect: each attempt
 * also shows that the one before left nothing in its way. Answers how many failures there were.
 */
async function failEachCall(
  network: ScriptedNetwork,
  request: ScriptedRequest,
  expected: Outcome,
  calls: number,
  { stride, first }: { readonly stride: number; readonly first: number },
): Promise<number> {
  const numbers = Array.from({ length: calls }, (_, index) => index + 1).filter((call) => call % stride === first)
  const faults = [
    ...numbers.map((call) => ({ call, when: 'before' as const })),
    // A write that fails after its end has taken effect; what is within it has a higher number and comes first.
    ...numbers.toReversed().map((call) => ({ call, when: 'after' as const })),
  ]
  let hits = 0
  for (const fault of faults) {
    const what = `${request.method} ${request.path}, call ${fault.call} fails ${fault.when} its effect`
    const outcome = await outcomeOf(network, request, () => {
      network.faulty.fault = fault
    })
    if (fault.call <= 0) hits += 1
    if (outcome.status < 300) expect(outcome, what).toEqual(expected)
    else expect([outcome.status, outcome.retryAfter], what).toEqual([503, '5'])
    if (outcome.effect.length === 0) continue
    expect(outcome.effect, what).toEqual(expected.effect)
    if (request.isRepeatable !== true) return hits
  }
  expect(await outcomeOf(network, request, noFault)).toEqual(expected)
  return hits
}

function countsOf(storage: Storage): Promise<Readonly<Record<string, number>>> {
  return storage.read(async (tx) => {
    const counts: Record<string, number> = {}
    const kinds = RECORD_KINDS.filter(({ name }) => name !== 'api-sessions' && !isLater(name))
    for (const kind of kinds) counts[kind.name] = (await tx.collection(kind).find({ limit: 1 })).totalCount
    return counts
  })
}
