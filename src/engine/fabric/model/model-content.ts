import type { ModelEntity, ModelEvent } from '../../../ports/fabric/index.ts'
import type { Change, ReadTransaction } from '../../../ports/storage.ts'
import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'
import { cas } from '../../../resources/enrollment/cas.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { serviceConfigs } from '../../../resources/services/service-configs.ts'
import { indexedEntity, indexedPolicy } from '../../access/access-feed.ts'
import type { EngineContext } from '../../context/context.ts'
import { MODEL_KINDS, type ModelKind } from './model-entities.ts'
import { ModelImage } from './model-image.ts'
import { modelKeys } from './model-keys.ts'

const EVENTS_AT_ONCE = 200

/** Turns what the store holds, and what changed in it, into events of the model. */
export class ModelContent {
  readonly #context: EngineContext
  readonly #image: ModelImage
  /** Whom a service config is for, because one that is gone cannot be asked. */
  readonly #identityOf = new Map<string, string>()
  #keyIds: ReadonlySet<string> = new Set()
  /** Until when (epoch ms) identities are disabled: their records do not change when that is over. */
  readonly #disabledUntil = new Map<string, number>()

  constructor(context: EngineContext) {
    this.#context = context
    this.#image = new ModelImage(context.digest)
  }

  /** Everything, a few events at a time. */
  async *all(tx: ReadTransaction): AsyncGenerator<readonly ModelEvent[]> {
    const turn = this.#context.turns.begin()
    let events: ModelEvent[] = []
    for (const kind of MODEL_KINDS) {
      const { items } = await tx.collection(kind.resource).find()
      for (const record of items) {
        events.push(...(await this.#put(tx, kind, record.id, record)))
        if (events.length >= EVENTS_AT_ONCE) {
          yield events
          events = []
        }
        await turn()
      }
    }
    const { items } = await tx.collection(serviceConfigs).find()
    for (const { id, identityId } of items) this.#identityOf.set(id, identityId)
    yield [...events, ...(await this.#keyEvents(tx))]
  }

  /** Whether identities are enabled again by `now` (epoch ms) whom routers know as disabled. */
  isDue(now: number): boolean {
    return this.#enabledBy(now).length > 0
  }

  /** What the changes of the store are for routers: nothing, for most of them. */
  async changed(tx: ReadTransaction, changes: readonly Change[]): Promise<readonly ModelEvent[]> {
    const turn = this.#context.turns.begin()
    const touched = await this.#touched(tx, changes, this.#context.clock.now())
    const events: ModelEvent[] = []
    for (const kind of MODEL_KINDS) {
      for (const id of touched.get(kind.resource.name) ?? []) {
        events.push(...(await this.#put(tx, kind, id, await tx.collection(kind.resource).get(id))))
        await turn()
      }
    }
    const { fingerprint } = await this.#context.pki.serverCertificate()
    // A renewed certificate of the controller is no change of the store.
    const isStale = !this.#keyIds.has(fingerprint) || touched.has(cas.name)
    return isStale ? [...events, ...(await this.#keyEvents(tx))] : events
  }

  async #put(
    tx: ReadTransaction,
    kind: ModelKind,
    id: string,
    record: RecordOf<Resource> | undefined,
  ): Promise<readonly ModelEvent[]> {
    const entity = record && (await kind.show(tx, record, this.#context.clock.now()))
    if (kind.type === 'identity') this.#noteDisabled(id, entity, record)
    if (kind.type === 'service-policy') {
      return this.#image.putPolicy(id, entity, record && entity && indexedPolicy(kind.resource, record))
    }
    return this.#image.putEntity(kind.type, id, entity, record && indexedEntity(record).roleAttributes)
  }

  #noteDisabled(id: string, entity: ModelEntity | undefined, record: RecordOf<Resource> | undefined): void {
    const until: unknown = record?.disabledUntil
    const isDisabled = entity?.type === 'identity' && entity.disabled
    if (isDisabled && typeof until === 'number') this.#disabledUntil.set(id, until)
    else this.#disabledUntil.delete(id)
  }

  #enabledBy(now: number): readonly string[] {
    return [...this.#disabledUntil].filter(([, until]) => until <= now).map(([id]) => id)
  }

  async #touched(
    tx: ReadTransaction,
    changes: readonly Change[],
    now: number,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const touched = new Map<string, Set<string>>()
    const touch = (kind: string, id: string) => touched.set(kind, (touched.get(kind) ?? new Set()).add(id))
    for (const id of this.#enabledBy(now)) touch(identities.name, id)
    for (const { kind, id } of changes) {
      touch(kind, id)
      if (kind !== serviceConfigs.name) continue
      const association = await tx.collection(serviceConfigs).get(id)
      const identityId = association?.identityId ?? this.#identityOf.get(id)
      if (identityId !== undefined) touch(identities.name, identityId)
      if (association === undefined) this.#identityOf.delete(id)
      else this.#identityOf.set(id, association.identityId)
    }
    return touched
  }

  async #keyEvents(tx: ReadTransaction): Promise<readonly ModelEvent[]> {
    const keys = await modelKeys(this.#context, tx)
    const kept = new Set(keys.map(({ kid }) => kid))
    const gone = [...this.#keyIds].filter((kid) => !kept.has(kid))
    this.#keyIds = kept
    return [
      ...keys.flatMap((key) => this.#image.putEntity('public-key', key.kid, key)),
      ...gone.flatMap((kid) => this.#image.putEntity('public-key', kid, undefined)),
    ]
  }
}
