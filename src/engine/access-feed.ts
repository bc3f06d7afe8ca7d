import {
  AccessIndex,
  type AccessType,
  type EntityKind,
  type IndexedEntity,
  type IndexedPolicy,
  type PolicyKind,
} from '../domain/access-index/index.ts'
import type { ReadTransaction } from '../ports/storage.ts'
import { resourceNamed } from '../resources/index.ts'
import type { RecordOf, Resource } from '../resources/resource.ts'

const ENTITY_KINDS: readonly EntityKind[] = ['identities', 'services', 'edge-routers', 'posture-checks']
const POLICY_KINDS: readonly PolicyKind[] = ['service-policies', 'edge-router-policies', 'service-edge-router-policies']

/** An identity gained or lost a service by a change of its own role attributes. */
export interface AccessChange {
  readonly identityId: string
  readonly serviceId: string
  readonly type: AccessType
  readonly change: 'gained' | 'lost'
}

/**
 * Keeps the access index level with the store. It is fed by the change feed alone, so that a change made by another
 * process over the same store is seen as well.
 */
export class AccessFeed {
  readonly #tell: (change: AccessChange) => void
  readonly #latestRevision: (() => Promise<number>) | undefined
  #checking: Promise<void> | undefined
  #index = new AccessIndex()
  #revision = -1
  #queue: Promise<unknown> = Promise.resolve()

  /**
   * `tell` hears what the role attributes of single identities give and take; `latestRevision` asks the store, in a snapshot of
   * its own, for its revision.
   */
  constructor(tell: (change: AccessChange) => void = () => undefined, latestRevision?: () => Promise<number>) {
    this.#tell = tell
    this.#latestRevision = latestRevision
  }

  /** The index as of the snapshot `tx`, or a later one. */
  async at(tx: ReadTransaction): Promise<AccessIndex> {
    if (this.#revision < tx.revision) {
      const caughtUp = this.#queue.then(() => this.#catchUp(tx))
      // A snapshot that fails to be read must not keep later ones from being read.
      this.#queue = caughtUp.catch(() => undefined)
      await caughtUp
    } else if (tx.revision < this.#revision) this.#checking ??= this.#noticeRestore(this.#revision)
    return this.#index
  }

  /**
   * Starts afresh where the store went back: an older snapshot may only have begun early, but one that begins now must reach
   * `known`. Nobody waits for it, because `tx` may hold the only connection.
   */
  async #noticeRestore(known: number): Promise<void> {
    try {
      const latest = await this.#latestRevision?.()
      if (latest !== undefined && latest < known) this.#revision = -1
    } catch {
      // A store that is away is asked again by the next older snapshot.
    } finally {
      this.#checking = undefined
    }
  }

  async #catchUp(tx: ReadTransaction): Promise<void> {
    if (this.#revision >= tx.revision) return
    const changes = this.#revision < 0 ? undefined : await tx.changesSince(this.#revision)
    if (changes === undefined) {
      this.#index = await buildIndex(tx)
    } else {
      const touched = new Map(changes.map(({ kind, id }) => [`${kind} ${id}`, { kind, id }]))
      for (const { kind, id } of touched.values()) await this.#refresh(tx, kind, id)
    }
    this.#revision = tx.revision
  }

  async #refresh(tx: ReadTransaction, kind: string, id: string): Promise<void> {
    const entityKind = ENTITY_KINDS.find((name) => name === kind)
    const policyKind = POLICY_KINDS.find((name) => name === kind)
    if (entityKind === undefined && policyKind === undefined) return
    const resource = resourceNamed(kind)
    const record = await tx.collection(resource).get(id)
    if (entityKind !== undefined) {
      if (record === undefined) this.#index.removeEntity(entityKind, id)
      else this.#putEntity(entityKind, indexedEntity(record))
    } else if (policyKind !== undefined) {
      if (record === undefined) this.#index.removePolicy(policyKind, id)
      else this.#index.putPolicy(policyKind, indexedPolicy(resource, record))
    }
  }

  #putEntity(kind: EntityKind, entity: IndexedEntity): void {
    const roles = entity.roleAttributes.map((name) => `#${name}`)
    const isRegrouped =
      kind === 'identities' &&
      this.#index.has(kind, entity.id) &&
      String(roles) !== String(this.#index.rolesOf(kind, entity.id))
    const before = isRegrouped ? this.#accessOf(entity.id) : undefined
    this.#index.putEntity(kind, entity)
    if (before === undefined) return
    const after = this.#accessOf(entity.id)
    for (const [key, access] of after) if (!before.has(key)) this.#tell({ ...access, change: 'gained' })
    for (const [key, access] of before) if (!after.has(key)) this.#tell({ ...access, change: 'lost' })
  }

  #accessOf(identityId: string) {
    const access = (['Bind', 'Dial'] as const).flatMap((type) =>
      this.#index.servicesOf(identityId, type).map((serviceId) => ({ identityId, serviceId, type })),
    )
    return new Map(access.map((one) => [`${one.type} ${one.serviceId}`, one]))
  }
}

async function buildIndex(tx: ReadTransaction): Promise<AccessIndex> {
  const index = new AccessIndex()
  for (const kind of ENTITY_KINDS) {
    const { items } = await tx.collection(resourceNamed(kind)).find()
    for (const record of items) index.putEntity(kind, indexedEntity(record))
  }
  for (const kind of POLICY_KINDS) {
    const resource = resourceNamed(kind)
    const { items } = await tx.collection(resource).find()
    for (const record of items) index.putPolicy(kind, indexedPolicy(resource, record))
  }
  return index
}

export function indexedEntity(record: RecordOf<Resource>) {
  return { id: record.id, roleAttributes: textList(record.roleAttributes) }
}

export function indexedPolicy(resource: Resource, record: RecordOf<Resource>): IndexedPolicy {
  const sides = Object.entries(resource.definition.selects ?? {})
  const roles = Object.fromEntries(sides.map(([field, kind]) => [kind, textList(record[field])]))
  const { type, semantic } = record
  return {
    id: record.id,
    semantic: semantic === 'AllOf' ? 'AllOf' : 'AnyOf',
    roles,
    ...(type === 'Dial' || type === 'Bind' ? { type } : {}),
  }
}

function textList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
