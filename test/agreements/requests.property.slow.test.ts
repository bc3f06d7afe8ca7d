import fc from 'fast-check'
import { createPkiMaterial, type PkiMaterial, SYSTEM_CALL } from 'portcullis'
import { beforeAll, expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { administering, type ControllerProcess, clientsOf, MortalNetwork } from './mortal-network.ts'
import { MortalPair } from './mortal-pair.ts'
import { anyFaultAt, faultsAt, type PlacedFault } from './placed-fault.ts'

const NOW = Date.UTC(2026, 0, 1)
const SECOND_MS = 1000
const MINUTE_MS = 60_000
/** Milliseconds for which access is asked for. */
const ACCESS_MS = 5 * MINUTE_MS
/** Milliseconds after which something that was asked for counts as hanging. */
const PATIENCE_MS = 2 * MINUTE_MS
/** Steps of a decision. */
const AGREEMENTS = ['write', 'insert', 'update', 'get', 'find']
const DEEDS = ['asks', 'approves', 'refuses', 'withdraws', 'waits', 'starts again'] as const
type Deed = Readonly<{ at: number; what: (typeof DEEDS)[number]; besides: (typeof DEEDS)[number] | undefined }>
const anyDeed: fc.Arbitrary<Deed> = fc.record({
  at: fc.constantFrom(0, 1),
  what: fc.constantFrom(...DEEDS),
  besides: fc.option(fc.constantFrom('approves', 'refuses', 'withdraws'), { nil: undefined }),
})

let pki: PkiMaterial
beforeAll(async () => {
  pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'controller.test', now: NOW })
})

/** A laptop that asks two processes over one store for access, and an administrator that decides at either. */
class Asked extends MortalPair {
  #laptopId = ''
  /** The state of each decided request, as its answer said. */
  readonly #answered = new Map<string, string>()
  /** Requests that an answer named. */
  readonly #made = new Set<string>()

  constructor() {
    super(new MortalNetwork(pki, NOW))
  }

  async prepare(): Promise<void> {
    const { engine } = (await this.settled(0)).controller
    this.#laptopId = (
      await engine.identities.create(SYSTEM_CALL, { name: 'laptop', type: 'Device', isAdmin: false })
    ).id
    await engine.services.create(SYSTEM_CALL, { name: 'prod-db', encryptionRequired: true })
    await this.settled(1)
  }

  async does({ at, what, besides }: Deed): Promise<void> {
    const process = await this.at(at)
    const other = besides && (await this.at(1 - at))
    if (process === undefined) return
    if (what === 'starts again') process.life.isDead = true
    if (what === 'waits') await this.network.elapse(3 * MINUTE_MS)
    const ends = [this.#begun(process, what), ...(other && besides ? [this.#begun(other, besides)] : [])]
    for (const end of ends) await end()
  }

  /** Begins something; answers what waits for its end. */
  #begun(process: ControllerProcess, what: Deed['what']): () => Promise<void> {
    if (what === 'waits' || what === 'starts again') return async () => {}
    const asked = what === 'asks' ? this.#asks(process) : this.#decides(process, what)
    asked.catch(() => undefined)
    return async () => {
      if ((await this.network.outcome(process.life, asked, PATIENCE_MS)) === 'hangs') process.life.isDead = true
    }
  }

  async #laptopAt(process: ControllerProcess) {
    const { token } = await process.controller.engine.host.startSession(this.#laptopId)
    return clientsOf(process, token).portcullis
  }

  async #asks(process: ControllerProcess): Promise<void> {
    const body = { service: 'prod-db', durationMs: ACCESS_MS, reason: 'INC-7' }
    const { data } = await (await this.#laptopAt(process)).call('POST /access-requests', { body })
    this.#made.add(data.id)
  }

  /** Decides the first open request, or the last one. */
  async #decides(process: ControllerProcess, what: 'approves' | 'refuses' | 'withdraws'): Promise<void> {
    const { portcullis } = await administering(process)
    const { data } = await portcullis.call('GET /access-requests', { query: { sort: 'state desc' } })
    const id = (data.find(({ state }) => state === 'open') ?? data.at(-1))?.id
    if (id === undefined) return
    const verb = ({ approves: 'approve', refuses: 'refuse', withdraws: 'withdraw' } as const)[what]
    const params = { id }
    const decided =
      verb === 'withdraw'
        ? await (await this.#laptopAt(process)).call('POST /access-requests/{id}/withdraw', { params })
        : await portcullis.call(`POST /access-requests/{id}/${verb}`, { params, body: {} })
    expect(this.#answered.get(id), 'a request is decided once').toBeUndefined()
    this.#answered.set(id, decided.data.state)
  }

  /** Checks that every process knows one decision of each request, and gives access as long as the decision says. */
  async assertDecided(): Promise<void> {
    for (const place of [0, 1]) {
      const process = await this.settled(place)
      const { portcullis } = await administering(process)
      const { data: requests } = await portcullis.call('GET /access-requests', { query: { limit: 500 } })
      const ids = requests.map(({ id }) => id)
      expect(
        [...this.#made].filter((id) => !ids.includes(id)),
        'acknowledged and lost',
      ).toEqual([])
      for (const { id, state } of requests) expect(state).toBe(this.#answered.get(id) ?? state)
      const { engine } = process.controller
      const policies = (await engine.servicePolicies.list(SYSTEM_CALL, { limit: 500 })).items
      const approved = requests.filter(({ state }) => state === 'approved')
      expect(policies.map(({ id }) => id).toSorted()).toEqual(approved.map(({ policyId }) => policyId).toSorted())
      const now = this.network.clock.now()
      const isInForce = approved.some(({ until }) => until !== null && now < Date.parse(until))
      const explained = await engine.access.explain(SYSTEM_CALL, 'laptop', 'prod-db', 'Dial')
      expect(
        explained.policies.some(({ grants }) => grants),
        `access with ${approved.length} approved`,
      ).toBe(isInForce)
      // The trail has each decision once.
      const filter = 'type = "access.decided"'
      const { entries } = (await portcullis.call('GET /audit', { query: { filter, limit: 500 } })).data
      const decided = requests.filter(({ state }) => state !== 'open').map(({ id }) => id)
      expect(entries.map(({ entity }) => entity?.id).toSorted()).toEqual(decided.toSorted())
    }
  }
}

/** A decision fails before or after it is written. */
function inWrites(isDone: boolean): PlacedFault[] {
  return [0, 1, 2, 3].map((at) => ({ place: { of: 'write', at }, way: 'fails', isDone, forMs: SECOND_MS }))
}
const deed = (what: Deed['what'], besides?: Deed['what']): Deed => ({ at: 0, what, besides })

it(
  'a request for access has one decision, which every process knows and which lasts as it says, whatever step fails, hangs or is the last',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDeed, { minLength: 1, maxLength: 8 }),
        fc.array(anyFaultAt(AGREEMENTS), { minLength: 1, maxLength: 4 }),
        async (deeds, faults) => {
          const asked = new Asked()
          await asked.prepare()
          await asked.does(deed('asks'))
          asked.network.faultOf = faultsAt(faults)
          for (const one of deeds) await asked.does(one)
          asked.network.faultOf = () => undefined
          // A process whose storage never answers it is ended by its owner.
          if (faults.some(({ way, forMs }) => way === 'hangs' && forMs === Number.POSITIVE_INFINITY)) asked.kill()
          await asked.settled(0)
          await asked.settled(1)
          await asked.network.elapse(MINUTE_MS)
          await asked.assertDecided()
          await asked.network.elapse(ACCESS_MS)
          await asked.assertDecided()
          await asked.network.close()
        },
      ),
      {
        ...runs(45, 4),
        examples: [
          [[deed('approves', 'refuses')], inWrites(false)],
          [[deed('approves', 'withdraws')], inWrites(true)],
        ],
      },
    )
  },
  patience(300_000),
)
