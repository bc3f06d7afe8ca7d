import { fakeClock } from 'portcullis/testing'
import type { Timer } from '../../adapters/network/channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage } from '../../adapters/network/channel/edge-messages.ts'
import { readUint32, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { type EdgeWorld, edgeWorld, type PlayedEndpoint } from '../support/edge-world.ts'
import type { Fault } from './mortal-identity.ts'
import { MortalSteps } from './mortal-steps.ts'

/** Costs of one connection id: what they were divided by it tells whose terminator it is. */
const COSTS_OF_AN_ID = 100

/** An endpoint that hosts at a router, whose messages to the controller about terminators fail, hang, or lose their answer. */
export class HostingWorld {
  faultOf: (step: { readonly name: string }) => Fault | undefined = () => undefined
  /** The latest cost of each connection id that the endpoint hosts by. */
  readonly #costs = new Map<number, number>()
  readonly #life = { isDead: false }
  readonly #steps: MortalSteps
  #updates = 0
  #world: EdgeWorld | undefined
  #host: PlayedEndpoint | undefined

  private constructor() {
    const clock = fakeClock(0)
    const elapse = async (ms: number) => {
      clock.advance(ms)
      await this.#world?.controller.elapse(ms)
    }
    this.#steps = new MortalSteps({ clock, elapse }, () => new Promise((resolve) => setTimeout(resolve, 1)))
  }

  static async open(): Promise<HostingWorld> {
    const hosting = new HostingWorld()
    const timer: Timer = (ms, work) => hosting.#steps.timer(hosting.#life, ms, work)
    const world = await edgeWorld(timer, async ({ type }) => {
      const fault = type.endsWith('terminator') || type.endsWith('terminators') ? hosting.#given(type) : undefined
      const suffered = () => hosting.#steps.take(hosting.#life, fault, async () => undefined, ENDS)
      if (fault?.isDone === true) return suffered
      await suffered()
      return undefined
    })
    hosting.#world = world
    const host = await world.connect(await world.device('host', ['hosts']))
    host.onMessage(({ contentType, headers }) => {
      const id = readUint32(headers, EDGE_HEADER.connection) ?? 0
      if (contentType === EDGE_TYPE.stateClosed) hosting.#costs.delete(id)
    })
    hosting.#host = host
    return hosting
  }

  /** The costs by which the endpoint hosts, as far as it has heard. */
  get hosted(): readonly number[] {
    return [...this.#costs.values()].toSorted((a, b) => a - b)
  }

  async bind(id: number): Promise<void> {
    if (this.#costs.has(id)) return
    const cost = this.#nextCost(id)
    this.#costs.set(id, cost)
    await this.#host?.bind(id, {
      headers: [
        [EDGE_HEADER.listener, uint32Header(id)],
        [EDGE_HEADER.cost, uint32Header(cost)],
      ],
    })
  }

  update(id: number): void {
    if (!this.#costs.has(id)) return
    const cost = this.#nextCost(id)
    this.#costs.set(id, cost)
    this.#host?.send(edgeMessage(EDGE_TYPE.updateBind, id, [[EDGE_HEADER.cost, uint32Header(cost)]]))
  }

  unbind(id: number): void {
    if (!this.#costs.delete(id)) return
    this.#host?.send(edgeMessage(EDGE_TYPE.unbind, id))
  }

  elapse(ms: number): Promise<void> {
    return this.#steps.elapse(ms)
  }

  /** The costs of the terminators that the controller has for connection ids by which the endpoint hosts. */
  async known(): Promise<readonly number[]> {
    const data = (await this.#world?.controller.admin.call('GET /terminators'))?.data ?? []
    const ids = this.hosted.map(idOf)
    return data
      .map(({ cost }) => cost)
      .filter((cost) => ids.includes(idOf(cost)))
      .toSorted((a, b) => a - b)
  }

  async close(): Promise<void> {
    this.#life.isDead = true
    await this.#world?.controller.close()
  }

  #nextCost(id: number): number {
    this.#updates += 1
    return id * COSTS_OF_AN_ID + this.#updates
  }

  /** The controller of this router is in its process: it does not die alone. */
  #given(name: string): Fault | undefined {
    const fault = this.faultOf({ name })
    return fault?.way === 'dies' ? { ...fault, way: 'fails' } : fault
  }
}

const idOf = (cost: number) => Math.floor(cost / COSTS_OF_AN_ID)
const ENDS = { kill: () => undefined, failure: () => new Error('the controller is away') }
