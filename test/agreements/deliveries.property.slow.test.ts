import fc from 'fast-check'
import { createPkiMaterial, type PkiMaterial, SYSTEM_CALL } from 'portcullis'
import { beforeAll, expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { administering, type ControllerProcess, MortalNetwork } from './mortal-network.ts'
import { MortalPair } from './mortal-pair.ts'
import { anyFaultAt, faultsAt, type PlacedFault } from './placed-fault.ts'

const NOW = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
/** Steps by which a process takes events, and records that they were delivered. */
const AGREEMENTS = ['write', 'insert', 'update', 'get', 'find']
const anyDeed = fc.record({ at: fc.constantFrom(0, 1), what: fc.constantFrom('changes', 'waits', 'starts again') })

/** A service is made and changed, and time passes. */
const CHANGES = ['changes', 'changes', 'waits'].map((what) => ({ at: 0, what }))

let pki: PkiMaterial
beforeAll(async () => {
  pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'controller.test', now: NOW })
})

/** Two processes over one store whose host subscribes to the changes of a service. */
class Subscribed extends MortalPair {
  /** The ids of the events, as they came. */
  readonly reported: string[] = []
  #changes = 0
  #begun = 0

  constructor() {
    super(new MortalNetwork(pki, NOW))
  }

  /** The process of a place, with its subscription; undefined where it could not begin now. */
  override async at(place: number): Promise<ControllerProcess | undefined> {
    const known = this.processes[place]
    const process = await super.at(place)
    if (process !== undefined && process === known) return process
    this.#begun += 1
    if (process === undefined) return undefined
    // A host whose subscription fails tries it again.
    for (let tries = 3; tries > 0; tries -= 1) {
      const subscribing = process.controller.events.subscribe(
        'tickets',
        ({ data }) => void this.reported.push(data.id),
        {
          events: ['entity.updated'],
          filter: 'kind = "services"',
        },
      )
      const ended = await this.network.outcome(process.life, subscribing)
      if (typeof ended !== 'string' && 'value' in ended) return process
      if (typeof ended === 'string') break
    }
    process.life.isDead = true
    return undefined
  }

  async does({ at, what }: { readonly at: number; readonly what: string }): Promise<void> {
    const process = await this.at(at)
    if (process === undefined) return
    if (what === 'starts again') process.life.isDead = true
    if (what === 'waits') await this.network.elapse(MINUTE_MS)
    if (what === 'changes') await this.network.outcome(process.life, this.change(process))
  }

  async change({ controller }: ControllerProcess): Promise<void> {
    const { items } = await controller.engine.services.list(SYSTEM_CALL, { limit: 1 })
    this.#changes += 1
    const change = { name: `service ${this.#changes}` }
    const [service] = items
    if (service === undefined)
      await controller.engine.services.create(SYSTEM_CALL, { ...change, encryptionRequired: true })
    else await controller.engine.services.patch(SYSTEM_CALL, service.id, change)
  }

  /** Checks that each change was reported, in order, and again only where a process was gone. */
  async assertReported(process: ControllerProcess, hangs: number): Promise<void> {
    const { portcullis } = await administering(process)
    const { data } = await portcullis.call('GET /audit', { query: { filter: 'kind = "services"', limit: 500 } })
    const changes = data.entries.filter(({ type }) => type === 'entity.updated').map(({ id }) => id)
    expect([...new Set(this.reported)]).toEqual(changes.sort())
    const times = changes.map((id) => this.reported.filter((reported) => reported === id).length)
    expect(Math.max(1, ...times)).toBeLessThanOrEqual(1 + this.#begun - 2 + hangs)
  }
}

/** A write in which a process stores that events were delivered fails, before or after it is done. */
function inSettling(isDone: boolean): PlacedFault[] {
  return [3, 4, 5].map((at) => ({ place: { of: 'write', at }, way: 'fails', isDone, forMs: 1000 }))
}

it(
  'a subscriber gets each event, in order, and again only where a process was gone, whatever step of its delivery fails, hangs or is the last',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDeed, { minLength: 1, maxLength: 6 }),
        fc.array(anyFaultAt(AGREEMENTS), { minLength: 1, maxLength: 4 }),
        async (deeds, faults) => {
          const subscribed = new Subscribed()
          await subscribed.settled(0)
          await subscribed.settled(1)
          subscribed.network.faultOf = faultsAt(faults)
          for (const deed of deeds) await subscribed.does(deed)
          subscribed.network.faultOf = () => undefined
          // A process whose storage never answers it is ended by its owner.
          if (faults.some(({ way, forMs }) => way === 'hangs' && forMs === Number.POSITIVE_INFINITY)) subscribed.kill()
          await subscribed.settled(0)
          const other = await subscribed.settled(1)
          await subscribed.network.elapse(5 * MINUTE_MS)
          await subscribed.assertReported(other, faults.filter(({ way }) => way === 'hangs').length)
          await subscribed.network.close()
        },
      ),
      {
        ...runs(30, 4),
        examples: [
          [CHANGES, inSettling(false)],
          [CHANGES, inSettling(true)],
        ],
      },
    )
  },
  patience(300_000),
)

it('a subscription that the storage refused can be made again', async () => {
  const network = new MortalNetwork(pki, NOW)
  const process = await network.start()
  network.faultOf = faultsAt([{ place: { of: 'write', at: 0 }, way: 'fails', isDone: false, forMs: 0 }])
  const subscribe = () => process?.controller.events.subscribe('tickets', () => undefined)
  await expect(subscribe()).rejects.toThrow('the step failed')
  const end = await subscribe()
  end?.()
  await network.close()
})
