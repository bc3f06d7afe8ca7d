import { Gate } from '../../concurrency/gate.ts'
import { logFailure } from '../../context/background-failure.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ModelCodec, ModelEvent, ModelSubscription } from '../../facts/fabric/messages/index.ts'
import type { ConnectedRouter } from '../channels/connected-routers.ts'
import { DataModel, type WrittenModel } from './data-model.ts'
import type { ModelStep } from './model-image.ts'

interface Subscription {
  readonly id: string
  timelineId: string
  /** The index of the router once it has read all messages. */
  index: number
  /** The whole model, or the steps after the router's own, were sent. */
  isLevel: boolean
  /** The instant (epoch ms) until which a router that is ahead of the store waits for it. */
  readonly waitsUntil: number
}

/**
 * Milliseconds for which a store may lag behind the state that a router has from another process. A store that lags for longer was restored
 * from a backup: the router gets its model.
 */
const LAG_MS = 5000

/**
 * Gives routers the data model and keeps them level with it for as long as they are connected. The index that a router reports counts, not
 * the index that was sent to it. All work happens in turn, so that no step overtakes another or is left out. Routers that wait while a
 * model is written share it.
 */
export class ModelSubscriptions {
  readonly #context: EngineContext
  readonly #model: DataModel
  readonly #subscriptions = new Map<ConnectedRouter, Subscription>()
  readonly #gate = new Gate(1)
  #isLooking = false
  /** A router still waits for changes: the storage was away, or behind. */
  #isOwing = false
  readonly #turn: () => Promise<void> | undefined

  constructor(context: EngineContext, codec: ModelCodec) {
    this.#context = context
    this.#model = new DataModel(context, codec)
    this.#turn = context.turns.begin()
  }

  /** The id of the timeline: indexes are comparable only within it. */
  get timelineId(): string {
    return this.#model.timelineId
  }

  /**
   * A router subscribes or renews its subscription, and reports the index that it has. Nothing is sent where it has the latest model that
   * was sent to it. The requested duration is ignored: changes between an end and a renewal would be lost.
   */
  subscribe(router: ConnectedRouter, { subscriptionId: id, timelineId, currentIndex: index }: ModelSubscription): void {
    const known = this.#subscriptions.get(router)
    const hasWhatWasSent = known?.id === id && known.timelineId === timelineId && known.index === index
    if (known === undefined || !this.#isLevel(known) || !hasWhatWasSent) {
      const waitsUntil = this.#context.clock.now() + LAG_MS
      this.#subscriptions.set(router, { id, timelineId, index, isLevel: false, waitsUntil })
    }
    this.look()
  }

  /** The router is gone. */
  forget(router: ConnectedRouter): void {
    this.#subscriptions.delete(router)
    if (this.#subscriptions.size === 0) this.#then(async () => this.#forgetAlone())
  }

  /** Whether a router has the model and gets its changes. */
  isFollowedBy(router: ConnectedRouter): boolean {
    return this.#subscriptions.get(router)?.isLevel === true
  }

  /** The number of routers that wait for the model or for steps. */
  countBehind(): number {
    return [...this.#subscriptions.values()].filter((subscription) => !this.#isLevel(subscription)).length
  }

  /**
   * The whole model for one router, read anew from the store after routers were sent the steps up to it, with every event as `shown`
   * changes it.
   */
  fresh(routerId: string, shown: (event: ModelEvent) => readonly ModelEvent[]): Promise<WrittenModel> {
    return this.#gate.run(async () => {
      await this.#follow()
      const { written, steps } = await this.#model.fresh(routerId, shown)
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
      this.#isOwing = false
      await this.#follow()
    })
  }

  /** Sends again where sending failed. */
  catchUp(): void {
    if (this.#isOwing) this.look()
  }

  /** Forgets every subscription. No read is under way when it resolves, so that the storage may close. */
  async close(): Promise<void> {
    this.#subscriptions.clear()
    await this.#gate.run(async () => undefined)
  }

  #then(work: () => Promise<void>): void {
    void this.#gate.run(async () => {
      await work().catch((error: unknown) => {
        this.#isOwing = true
        logFailure(this.#context.logger, 'routers could not be told of the data model', error)
      })
      // Any number of routers may be waiting.
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
      if (!this.#isLevel(subscription)) await this.#deliver(router, subscription)
    }
    // The model may have begun anew meanwhile.
    this.#isOwing ||= [...this.#subscriptions.values()].some((subscription) => !this.#isLevel(subscription))
  }

  #isLevel({ isLevel, timelineId }: Subscription): boolean {
    return isLevel && timelineId === this.#model.timelineId
  }

  async #deliver(router: ConnectedRouter, subscription: Subscription): Promise<void> {
    const isSameTimeline = subscription.timelineId === this.#model.timelineId && subscription.index > 0
    const missing = isSameTimeline ? this.#model.stepsAfter(subscription.index) : undefined
    if (missing !== undefined) this.#lead(router, subscription, missing)
    else {
      const { written, steps } = await this.#model.whole()
      await this.#tell(steps)
      // It may have left, or asked anew.
      if (this.#subscriptions.get(router) !== subscription) return
      if (written.index < subscription.index && this.#context.clock.now() < subscription.waitsUntil) return
      const { id: subscriptionId } = subscription
      subscription.timelineId = this.#model.timelineId
      subscription.index = written.index
      const state = this.#model.stateFor(router.id, written)
      router.channel.send({ type: 'model-state', ...state, timelineId: subscription.timelineId, subscriptionId })
    }
    subscription.isLevel = true
    await this.#turn()
  }

  async #tell(steps: readonly ModelStep[]): Promise<void> {
    if (steps.length === 0) return
    for (const [router, subscription] of [...this.#subscriptions]) {
      if (!this.#isLevel(subscription)) continue
      this.#lead(router, subscription, steps)
      await this.#turn()
    }
  }

  #lead({ id: routerId, channel }: ConnectedRouter, subscription: Subscription, steps: readonly ModelStep[]): void {
    for (const step of steps) {
      const { index } = step
      if (index <= subscription.index) continue
      const events = this.#model.changesFor(routerId, step)
      // A step for other routers alone has no events for this router.
      if (events.length === 0) continue
      const { id: subscriptionId, index: previousIndex } = subscription
      channel.send({ type: 'model-changes', index, previousIndex, events, subscriptionId })
      subscription.index = index
    }
  }
}
