import { Gate } from '../../../concurrency/gate.ts'
import type { ModelCodec, ModelEvent, ModelSubscription } from '../../../ports/fabric/index.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ConnectedRouter } from '../routers/connected-routers.ts'
import { DataModel, type WrittenModel } from './data-model.ts'
import type { ModelStep } from './step-log.ts'

interface Subscription {
  readonly id: string
  timelineId: string
  /** Epoch ms until which steps are sent. */
  until: number
  /** What the router is at when it has read everything. */
  index: number
  /** The whole model, or what leads on from the router's, was sent. */
  isLevel: boolean
}

const SHORTEST_SECONDS = 10
const LONGEST_SECONDS = 360

/**
 * Gives routers the data model and keeps them level with it. Everything happens in turn, so that no step overtakes another
 * and none is left out; whoever waits for a model that is being written gets the same one.
 */
export class ModelSubscriptions {
  readonly #context: EngineContext
  readonly #model: DataModel
  readonly #subscriptions = new Map<ConnectedRouter, Subscription>()
  readonly #gate = new Gate(1)
  #isLooking = false
  readonly #turn: () => Promise<void> | undefined

  constructor(context: EngineContext, codec: ModelCodec) {
    this.#context = context
    this.#model = new DataModel(context, codec)
    this.#turn = context.turns.begin()
  }

  /** A router wants the model, or wants it for longer. */
  subscribe(router: ConnectedRouter, request: ModelSubscription): void {
    const seconds = Math.min(Math.max(request.durationSeconds, SHORTEST_SECONDS), LONGEST_SECONDS)
    const until = this.#context.clock.now() + seconds * 1000
    const known = this.#subscriptions.get(router)
    if (request.renew && known?.isLevel === true && known.id === request.subscriptionId) {
      known.until = until
      this.look()
      return
    }
    const { subscriptionId: id, timelineId, currentIndex: index } = request
    this.#subscriptions.set(router, { id, timelineId, index, until, isLevel: false })
    this.#then(() => this.#deliver(router))
  }

  /** The router is gone. */
  forget(router: ConnectedRouter): void {
    this.#subscriptions.delete(router)
    if (this.#subscriptions.size === 0) this.#then(async () => this.#forgetAlone())
  }

  /** Whether a router was given the model, and is told what changes. */
  isFollowedBy(router: ConnectedRouter): boolean {
    const subscription = this.#subscriptions.get(router)
    return subscription?.isLevel === true && this.#context.clock.now() < subscription.until
  }

  /** The whole model read from the store anew, once routers were sent what leads up to it: of every event what `shown` makes. */
  fresh(shown: (event: ModelEvent) => readonly ModelEvent[]): Promise<WrittenModel> {
    return this.#gate.run(async () => {
      await this.#follow()
      const { written, steps } = await this.#model.fresh(shown)
      await this.#tell(steps)
      return written
    })
  }

  /** Whether time alone changed the model by `now` (epoch ms). */
  isDue(now: number): boolean {
    return this.#model.isDue(now)
  }

  /** The store may have changed. */
  look(): void {
    if (this.#isLooking || this.#subscriptions.size === 0) return
    this.#isLooking = true
    this.#then(async () => {
      this.#isLooking = false
      await this.#follow()
    })
  }

  #then(work: () => Promise<void>): void {
    void this.#gate.run(async () => {
      await work().catch((error: unknown) => {
        this.#context.logger.error('routers could not be told of the data model', { error: String(error) })
      })
      // Any number of routers may stand in line.
      await this.#turn()
    })
  }

  #forgetAlone(): void {
    if (this.#subscriptions.size === 0) this.#model.forget()
  }

  async #follow(): Promise<void> {
    const followed = await this.#model.follow()
    if (followed !== 'restarted') await this.#tell(followed)
    for (const [router, subscription] of [...this.#subscriptions]) {
      if (subscription.isLevel && subscription.timelineId !== this.#model.timelineId) await this.#deliver(router)
    }
  }

  async #deliver(router: ConnectedRouter): Promise<void> {
    const subscription = this.#subscriptions.get(router)
    if (subscription === undefined) return
    const isSameTimeline = subscription.timelineId === this.#model.timelineId
    const missing = isSameTimeline ? this.#model.stepsAfter(subscription.index) : undefined
    if (missing === undefined) {
      const { written, steps } = await this.#model.whole()
      await this.#tell(steps)
      const { id: subscriptionId } = subscription
      subscription.timelineId = this.#model.timelineId
      subscription.index = written.index
      router.channel.send({ type: 'model-state', ...written, timelineId: subscription.timelineId, subscriptionId })
      this.#lead(router, subscription, this.#model.stepsAfter(written.index) ?? [])
    } else this.#lead(router, subscription, missing)
    subscription.isLevel = true
    await this.#follow()
  }

  async #tell(steps: readonly ModelStep[]): Promise<void> {
    if (steps.length === 0) return
    const now = this.#context.clock.now()
    for (const [router, subscription] of [...this.#subscriptions]) {
      if (!subscription.isLevel || now >= subscription.until) continue
      this.#lead(router, subscription, steps)
      await this.#turn()
    }
  }

  #lead({ channel }: ConnectedRouter, subscription: Subscription, steps: readonly ModelStep[]): void {
    for (const { index, events } of steps) {
      if (index <= subscription.index) continue
      const { id: subscriptionId, index: previousIndex } = subscription
      channel.send({ type: 'model-changes', index, previousIndex, events, subscriptionId })
      subscription.index = index
    }
  }
}
