import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { sqliteStorage } from '../../adapters/kysely/index.ts'
import { memoryStorage } from '../../adapters/memory/index.ts'
import { RECORD_KINDS, type Storage } from '../../src/index.ts'
import { faultyStorage } from '../support/faulty-storage.ts'
import { networkScript, type ScriptedRequest } from '../support/network-script.ts'

const script = networkScript()

/**
 * What a request did: its answer, the length of the list in it, and which kinds of records changed how. The first look at the
 * services of a new API session is no part of it: it may be taken later.
 */
interface Outcome {
  readonly status: number
  readonly retryAfter: string | null
  readonly totalCount: unknown
  readonly effect: readonly string[]
}

async function startWorld(storage: Storage) {
  const faulty = faultyStorage(storage)
  const controller = await createTestController({ storage: faulty })
  const { data } = await controller.management.call('POST /authenticate', {
    query: { method: 'password' },
    body: { username: 'admin', password: 'admin-password' },
  })
  return { faulty, storage, controller, token: data.token }
}

type World = Awaited<ReturnType<typeof startWorld>>

async function send({ controller, token }: World, { method, path, body }: ScriptedRequest) {
  const headers = path.startsWith('management') ? { 'zt-session': token } : {}
  const request = new Request(`https://controller.test/edge/${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const response = await controller.fetch(request)
  // Every answer of the API is such an envelope.
  const envelope = (await response.json()) as { data?: unknown; meta: { pagination?: { totalCount: number } } }
  return { status: response.status, retryAfter: response.headers.get('retry-after'), ...envelope }
}

/** Puts ids and tokens where the script names records. */
async function resolved(world: World, request: ScriptedRequest): Promise<ScriptedRequest> {
  let text = JSON.stringify(request)
  for (const [place = '', kind = '', name = ''] of text.matchAll(/\{([a-z-]+)\/(\w+)\}/g)) {
    text = text.replace(place, await lookUp(world, kind, name))
  }
  return JSON.parse(text)
}

async function lookUp(world: World, kind: string, name: string): Promise<string> {
  const path = kind === 'token' ? 'identities' : kind
  const filter = encodeURIComponent(`name = "${name}"`)
  const { data } = await send(world, { method: 'GET', path: `management/v1/${path}?filter=${filter}` })
  const [record] = data as { id: string; enrollment?: { updb?: { token: string } } }[]
  return (kind === 'token' ? record?.enrollment?.updb?.token : record?.id) ?? `no-${kind}-${name}`
}

async function outcomeOf(world: World, request: ScriptedRequest, prepare: () => void): Promise<Outcome> {
  const sent = await resolved(world, request)
  const before = await world.storage.read(async (tx) => tx.revision)
  prepare()
  const { status, retryAfter, meta } = await send(world, sent)
  world.faulty.fault = undefined
  const changes = await world.storage.read((tx) => tx.changesSince(before))
  const owed = (changes ?? []).filter(({ kind }) => kind !== 'service-views')
  const effect = [...new Set(owed.map(({ kind, operation }) => `${operation} ${kind}`))].sort()
  return { status, retryAfter, totalCount: meta.pagination?.totalCount, effect }
}

const noFault = () => undefined

describe.each([
  ['memory', async () => memoryStorage()],
  ['SQLite', () => sqliteStorage(':memory:')],
])('%s', (_name, open) => {
  it(`does all or nothing when any one storage call of ${script.length} requests fails`, async () => {
    expect(script.length).toBeGreaterThanOrEqual(150)
    const undisturbed = await startWorld(await open())
    const world = await startWorld(await open())
    let faults = 0
    for (const request of script) {
      let before = 0
      const expected = await outcomeOf(undisturbed, request, () => {
        before = undisturbed.faulty.calls
      })
      expect(expected.status, `${request.method} ${request.path}`).toBeLessThan(300)
      faults += await failEachCall(world, request, expected, undisturbed.faulty.calls - before)
    }
    expect(faults).toBeGreaterThan(script.length * 6)
    expect(await countsOf(world.storage)).toEqual(await countsOf(undisturbed.storage))
    await Promise.all([world.controller.close(), undisturbed.controller.close()])
  }, 300_000)
})

/**
 * Sends a request again and again, each time with another of its storage calls failing, until it has its effect: each attempt
 * also shows that the one before left nothing in its way. Answers how many failures there were.
 */
async function failEachCall(world: World, request: ScriptedRequest, expected: Outcome, calls: number): Promise<number> {
  const numbers = Array.from({ length: calls }, (_, index) => index + 1)
  const faults = [
    ...numbers.map((call) => ({ call, when: 'before' as const })),
    // A write that fails after its end has taken effect; what is within it has a higher number and comes first.
    ...numbers.toReversed().map((call) => ({ call, when: 'after' as const })),
  ]
  let hits = 0
  for (const fault of faults) {
    const what = `${request.method} ${request.path}, call ${fault.call} fails ${fault.when} its effect`
    const outcome = await outcomeOf(world, request, () => {
      world.faulty.fault = fault
    })
    if (fault.call <= 0) hits += 1
    if (outcome.status < 300) expect(outcome, what).toEqual(expected)
    else expect([outcome.status, outcome.retryAfter], what).toEqual([503, '5'])
    if (outcome.effect.length === 0) continue
    expect(outcome.effect, what).toEqual(expected.effect)
    if (request.isRepeatable !== true) return hits
  }
  expect(await outcomeOf(world, request, noFault)).toEqual(expected)
  return hits
}

function countsOf(storage: Storage): Promise<Readonly<Record<string, number>>> {
  return storage.read(async (tx) => {
    const counts: Record<string, number> = {}
    const kinds = RECORD_KINDS.filter(({ name }) => name !== 'api-sessions' && name !== 'service-views')
    for (const kind of kinds) counts[kind.name] = (await tx.collection(kind).find({ limit: 1 })).totalCount
    return counts
  })
}
