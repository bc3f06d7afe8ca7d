import { concatenated } from '../../base/bytes.ts'
import type { EngineContext } from '../../context/context.ts'
import { changesAfter, placeOf } from '../../context/store-level.ts'
import type { ModelCodec, ModelEvent, ModelState } from '../../facts/fabric/messages/index.ts'
import type { HistoryPoint, ReadTransaction } from '../../ports/record-storage.ts'
import { ModelContent } from './model-content.ts'
import { type ModelStep, StepLog } from './model-image.ts'
import type { RouterConfigs } from './router-configs.ts'

/** The whole model as of `index`, written once for all routers that ask. */
export type WrittenModel = Pick<ModelState, 'index' | 'events'>

/** The model while a router follows it. */
interface Known {
  content: ModelContent
  /** The index is its revision. */
  place: HistoryPoint
  /** The whole model as written for the wire, followed by the later changes; undefined when there are too many of them. */
  written: readonly Uint8Array[] | undefined
  /** The bytes of those changes. */
  appended: number
  readonly log: StepLog
}

/** Entities and related ids that are written at a time: that takes a few milliseconds at most. */
const WRITTEN_AT_ONCE = 2000
/** Bytes of changes behind a whole model; with more it is read anew for the next router that asks. */
const MOST_APPENDED = 4 * 1024 * 1024

/**
 * The model that routers decide by, and the steps by which it changes. Its index is the revision of the store. Its timeline belongs to this
 * process and begins anew with another store, because indexes of two timelines cannot be compared.
 */
export class DataModel {
  readonly #context: EngineContext
  readonly #codec: ModelCodec
  #timelineId: string
  #known: Known | undefined

  constructor(context: EngineContext, codec: ModelCodec) {
    this.#context = context
    this.#codec = codec
    this.#timelineId = context.random.uuid()
  }

  get timelineId(): string {
    return this.#timelineId
  }

  /** Whether time alone changed the model by `now` (epoch ms): that change becomes a step with the next revision of the store. */
  isDue(now: number): boolean {
    return this.#known?.content.isDue(now) ?? false
  }

  /** The steps after an index; undefined where the router needs the whole model. */
  stepsAfter(index: number): readonly ModelStep[] | undefined {
    return this.#known === undefined || index > this.#known.place.revision ? undefined : this.#known.log.after(index)
  }

  /** The changes of a step for one router: first its own configs, then the changes for all routers. */
  changesFor(routerId: string, { events, configs }: ModelStep): Uint8Array {
    const own = configs === undefined ? [] : (this.#known?.content.routerConfigs.eventsFor(routerId, configs) ?? [])
    return own.length === 0 ? events : concatenated([this.#codec.changes(own), events])
  }

  /** The whole model for one router: the model for all routers, then its own configs. */
  stateFor(routerId: string, { index, events }: WrittenModel): WrittenModel {
    const routerConfigs = this.#known?.content.routerConfigs
    return routerConfigs === undefined ? { index, events } : this.#withOwn(routerId, routerConfigs, { index, events })
  }

  #withOwn(routerId: string, configs: RouterConfigs, { index, events }: WrittenModel): WrittenModel {
    const own = configs.eventsFor(routerId)
    return { index, events: own.length === 0 ? events : [...events, this.#codec.state(own)] }
  }

  /** Brings the model level with the store; answers the new steps, or that every router must start afresh. */
  follow(): Promise<readonly ModelStep[] | 'restarted'> {
    return this.#context.storage.read((tx) => this.#follow(tx))
  }

  /**
   * The whole model, level with the store: a router that comes from another process must not get an older model than it has. `steps` lead
   * routers with an earlier model up to it.
   */
  async whole(): Promise<{ readonly written: WrittenModel; readonly steps: readonly ModelStep[] }> {
    return this.#context.storage.read(async (tx) => {
      const followed = await this.#follow(tx)
      const { index, events } = this.#writtenModel() ?? (await this.#writeAll(tx))
      return { written: { index, events }, steps: followed === 'restarted' ? [] : followed }
    })
  }

  /**
   * The whole model for one router, read anew from the store, with every event as `shown` changes it. `steps` lead the followers of the
   * model up to the same index.
   */
  fresh(
    routerId: string,
    shown: (event: ModelEvent) => readonly ModelEvent[],
  ): Promise<{ readonly written: WrittenModel; readonly steps: readonly ModelStep[] }> {
    return this.#context.storage.read(async (tx) => {
      const followed = await this.#follow(tx)
      const content = new ModelContent(this.#context)
      const forAll = { index: tx.revision, events: await this.#written(tx, content, shown) }
      const written = this.#withOwn(routerId, content.routerConfigs, forAll)
      return { written, steps: followed === 'restarted' ? [] : followed }
    })
  }

  /** No router follows the model any more, or the store is another one. */
  forget(): void {
    this.#known = undefined
    this.#timelineId = this.#context.random.uuid()
  }

  async #follow(tx: ReadTransaction): Promise<readonly ModelStep[] | 'restarted'> {
    const known = this.#known
    if (known === undefined) return []
    const changes = await changesAfter(tx, known.place)
    if (changes === undefined) {
      this.forget()
      return 'restarted'
    }
    const apply = await known.content.prepare(tx, changes)
    try {
      const events = await apply()
      known.place = placeOf(tx)
      const configs = known.content.routerConfigs.takeChanges()
      return events.length === 0 && configs === undefined ? [] : [await this.#step(known, events, configs)]
    } catch (error) {
      // A change that was already applied would never reach a router.
      this.forget()
      throw error
    }
  }

  async #step(known: Known, events: readonly ModelEvent[], configs: ModelStep['configs']): Promise<ModelStep> {
    const pieces = await this.#write(events, (few) => this.#codec.changes(few))
    const step = { index: known.place.revision, events: concatenated(pieces), configs }
    known.log.add(step)
    known.appended += step.events.length
    // Routers read changes within a whole model as they read them in a change set.
    if (known.appended > MOST_APPENDED) known.written = undefined
    else if (known.written !== undefined) {
      known.written = [...known.written, ...(await this.#write(events, (few) => this.#codec.state(few)))]
    }
    return step
  }

  #writtenModel(): WrittenModel | undefined {
    const { place, written } = this.#known ?? {}
    return place === undefined || written === undefined ? undefined : { index: place.revision, events: written }
  }

  async #writeAll(tx: ReadTransaction): Promise<WrittenModel> {
    const content = new ModelContent(this.#context)
    const events = await this.#written(tx, content, (event) => [event])
    content.routerConfigs.takeChanges()
    // The model as read anew equals the model after all steps, so their log stays valid.
    const log = this.#known?.log ?? new StepLog(tx.revision)
    this.#known = { content, place: placeOf(tx), written: events, appended: 0, log }
    return { index: tx.revision, events }
  }

  async #written(
    tx: ReadTransaction,
    content: ModelContent,
    shown: (event: ModelEvent) => readonly ModelEvent[],
  ): Promise<readonly Uint8Array[]> {
    const pieces: Uint8Array[] = []
    for await (const events of content.all(tx)) {
      pieces.push(...(await this.#write(events.flatMap(shown), (few) => this.#codec.state(few))))
    }
    return pieces
  }

  /** Writes a few events at a time, so that other work gets its turn. */
  async #write(
    events: readonly ModelEvent[],
    write: (few: readonly ModelEvent[]) => Uint8Array,
  ): Promise<readonly Uint8Array[]> {
    const turn = this.#context.turns.begin()
    const pieces: Uint8Array[] = []
    let few: ModelEvent[] = []
    let weight = 0
    for (const event of events) {
      few.push(event)
      weight += 'entityIds' in event ? event.entityIds.length : 1
      if (weight < WRITTEN_AT_ONCE) continue
      pieces.push(write(few))
      few = []
      weight = 0
      await turn()
    }
    return few.length === 0 ? pieces : [...pieces, write(few)]
  }
}
