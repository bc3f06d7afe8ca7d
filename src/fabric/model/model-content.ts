import type { EngineContext } from '../../context/context.ts'
import { indexedEntity, indexedPolicy } from '../../facts/access/indexed-records.ts'
import { serviceConfigs } from '../../facts/configs/config.resource.ts'
import { signingKeys } from '../../facts/credentials/signing-key.resource.ts'
import { cas } from '../../facts/enrollment/ca.resource.ts'
import type { ModelEntity, ModelEvent } from '../../facts/fabric/messages/index.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { networkAuthorities } from '../../facts/pki/network-authority.resource.ts'
import type { RecordOf, Resource } from '../../kernel/declaration/resource.ts'
import type { Change, ReadTransaction } from '../../ports/record-storage.ts'
import { everyRecord } from '../../records/read-records.ts'
import { MODEL_KINDS, type ModelKind, modelKeys, type PublicKey } from './model-entities.ts'
import { ModelImage } from './model-image.ts'
import { RouterConfigs } from './router-configs.ts'

/** A record as it was read, and its entity as routers see it. */
interface Read {
  readonly kind: ModelKind
  readonly id: string
  readonly record: RecordOf<Resource> | undefined
  readonly entity: ModelEntity | undefined
}

/** The entities that changes concern, by kinds, and the identity of each service config among them: undefined for a deleted config. */
interface Touched {
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>
  readonly associations: ReadonlyMap<string, string | undefined>
}

const EVENTS_AT_ONCE = 200

/** Turns records of the store, and their changes, into events of the model. */
export class ModelContent {
  readonly #context: EngineContext
  readonly #image: ModelImage
  /** The identity of each service config, because the record of a deleted config cannot be read. */
  readonly #identityOf = new Map<string, string>()
  #keyIds: ReadonlySet<string> = new Set()
  /** The configs of routers, each for some routers only. */
  readonly routerConfigs = new RouterConfigs()
  /** The instant (epoch ms) at which each disabled identity is enabled again: its record does not change then. */
  readonly #disabledUntil = new Map<string, number>()

  constructor(context: EngineContext) {
    this.#context = context
    this.#image = new ModelImage(context.digest)
  }

  /** The whole model, a few events at a time. */
  async *all(tx: ReadTransaction): AsyncGenerator<readonly ModelEvent[]> {
    const turn = this.#context.turns.begin()
    let events: ModelEvent[] = []
    for (const kind of MODEL_KINDS) {
      for await (const { items } of everyRecord(tx, kind.resource, this.#context.turns)) {
        for (const record of items) {
          events.push(...this.#put(await this.#read(tx, kind, record.id, record)))
          if (events.length >= EVENTS_AT_ONCE) {
            yield events
            events = []
          }
          await turn()
        }
      }
    }
    for await (const { items } of everyRecord(tx, serviceConfigs, this.#context.turns)) {
      for (const { id, identityId } of items) this.#noteAssociation(id, identityId)
    }
    yield [...events, ...this.#putKeys(await modelKeys(this.#context, tx))]
  }

  /** Whether an identity that routers know as disabled is enabled again by `now` (epoch ms). */
  isDue(now: number): boolean {
    return this.#enabledBy(now).length > 0
  }

  /**
   * Reads the records that changes of the store concern. The function that it answers applies the changes and answers their events for
   * routers: most changes have none. No change is applied before every record was read, because an applied change is never sent again.
   */
  async prepare(tx: ReadTransaction, changes: readonly Change[]): Promise<() => Promise<readonly ModelEvent[]>> {
    const turn = this.#context.turns.begin()
    const touched = await this.#touched(tx, changes, this.#context.clock.now())
    const read: Read[] = []
    for (const kind of MODEL_KINDS) {
      for (const id of touched.ids.get(kind.resource.name) ?? []) {
        read.push(await this.#read(tx, kind, id, await tx.collection(kind.resource).get(id)))
        await turn()
      }
    }
    const { fingerprint } = await this.#context.pki.serverCertificate()
    // A renewed certificate of the controller is no change of the store.
    const isStale =
      !this.#keyIds.has(fingerprint) || [cas, networkAuthorities, signingKeys].some(({ name }) => touched.ids.has(name))
    const keys = isStale ? await modelKeys(this.#context, tx) : undefined
    return async () => {
      const events: ModelEvent[] = []
      for (const one of read) {
        events.push(...this.#put(one))
        await turn()
      }
      for (const [id, identityId] of touched.associations) this.#noteAssociation(id, identityId)
      return keys === undefined ? events : [...events, ...this.#putKeys(keys)]
    }
  }

  async #read(tx: ReadTransaction, kind: ModelKind, id: string, record: RecordOf<Resource> | undefined): Promise<Read> {
    return { kind, id, record, entity: record && (await kind.show(tx, record, this.#context.clock.now())) }
  }

  #put({ kind, id, record, entity }: Read): readonly ModelEvent[] {
    if (kind.type === 'identity') this.#noteDisabled(id, entity, record)
    if (kind.type === 'router') this.routerConfigs.putRouter(id, entity?.type === 'router' ? entity.configs : [])
    if (kind.type === 'config') {
      const ofRouters = entity?.type === 'config' && entity.target === 'router' ? entity : undefined
      this.routerConfigs.putConfig(id, ofRouters)
      if (ofRouters !== undefined) return []
    }
    if (kind.type === 'service-policy') {
      return this.#image.putPolicy(id, entity, record && entity && indexedPolicy(kind.resource, record))
    }
    return this.#image.putEntity(kind.type, id, entity, record && indexedEntity(record).roleAttributes)
  }

  #noteDisabled(id: string, entity: ModelEntity | undefined, record: RecordOf<Resource> | undefined): void {
    const until: unknown = record?.directoryDisabledAt === null ? record.disabledUntil : null
    const isDisabled = entity?.type === 'identity' && entity.disabled
    if (isDisabled && typeof until === 'number') this.#disabledUntil.set(id, until)
    else this.#disabledUntil.delete(id)
  }

  #enabledBy(now: number): readonly string[] {
    return [...this.#disabledUntil].filter(([, until]) => until <= now).map(([id]) => id)
  }

  #noteAssociation(id: string, identityId: string | undefined): void {
    if (identityId === undefined) this.#identityOf.delete(id)
    else this.#identityOf.set(id, identityId)
  }

  async #touched(tx: ReadTransaction, changes: readonly Change[], now: number): Promise<Touched> {
    const touched = new Map<string, Set<string>>()
    const associations = new Map<string, string | undefined>()
    const touch = (kind: string, id: string) => touched.set(kind, (touched.get(kind) ?? new Set()).add(id))
    for (const id of this.#enabledBy(now)) touch(identities.name, id)
    for (const { kind, id } of changes) {
      touch(kind, id)
      if (kind !== serviceConfigs.name) continue
      const association = await tx.collection(serviceConfigs).get(id)
      const identityId = association?.identityId ?? this.#identityOf.get(id)
      if (identityId !== undefined) touch(identities.name, identityId)
      associations.set(id, association?.identityId)
    }
    return { ids: touched, associations }
  }

  #putKeys(keys: readonly PublicKey[]): readonly ModelEvent[] {
    const kept = new Set(keys.map(({ kid }) => kid))
    const gone = [...this.#keyIds].filter((kid) => !kept.has(kid))
    this.#keyIds = kept
    return [
      ...keys.flatMap((key) => this.#image.putEntity('public-key', key.kid, key)),
      ...gone.flatMap((kid) => this.#image.putEntity('public-key', kid, undefined)),
    ]
  }
}
