import type { EngineContext } from '../../context/context.ts'
import { changesAfter, placeOf } from '../../context/store-level.ts'
import { AccessIndex, applying, type IndexChange } from '../../facts/access/index/index.ts'
import { indexedPolicy, possibleEntity, rosterFields } from '../../facts/access/indexed-records.ts'
import { servicePolicies } from '../../facts/access/policy.resource.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import type { RecordOf, Resource } from '../../kernel/declaration/resource.ts'
import type { HistoryPoint, ReadTransaction } from '../../ports/record-storage.ts'
import type { Turns } from '../../ports/runtime.ts'

const ENTITY_KINDS = ['identities', 'services'] as const
const KINDS = [...ENTITY_KINDS, 'service-policies'] as const
type Kind = (typeof KINDS)[number]

/**
 * A copy of the part of the access index that decides the access to dial and bind, for trying changes. It is made for
 * the first simulation, and brought level with the store before each use.
 */
export class AccessMirror {
  readonly #turns: Turns
  #index: AccessIndex | undefined
  #place: HistoryPoint | undefined

  constructor(turns: Turns) {
    this.#turns = turns
  }

  /** The index exactly as of the snapshot. A caller that changes it changes it back, or calls {@link discard}. */
  async at(tx: ReadTransaction): Promise<AccessIndex> {
    const known = this.#index
    const changes = known === undefined ? undefined : await changesAfter(tx, this.#place)
    const index = known === undefined || changes === undefined ? new AccessIndex() : known
    this.discard()
    if (changes === undefined) await this.#fill(tx, index)
    else await this.#follow(tx, index, changes)
    this.#place = placeOf(tx)
    this.#index = index
    return index
  }

  /** Drops a copy that may have been left changed. */
  discard(): void {
    this.#index = undefined
  }

  async #fill(tx: ReadTransaction, index: AccessIndex): Promise<void> {
    const turn = this.#turns.begin()
    for (const kind of ENTITY_KINDS) {
      for await (const { items } of tx.collection(resourceNamed(kind)).scan(rosterFields(kind))) {
        for (const record of items) {
          index.putEntity(kind, possibleEntity(record))
          await turn()
        }
      }
    }
    for (const policy of (await tx.collection(servicePolicies).find()).items) {
      index.putPolicy('service-policies', indexedPolicy(servicePolicies, policy))
      await turn()
    }
  }

  async #follow(
    tx: ReadTransaction,
    index: AccessIndex,
    changes: readonly { readonly kind: string; readonly id: string }[],
  ): Promise<void> {
    const turn = this.#turns.begin()
    for (const { kind: name, id } of changes) {
      const kind = KINDS.find((candidate) => candidate === name)
      if (kind === undefined) continue
      const record = await tx.collection(resourceNamed(kind)).get(id)
      if (record !== undefined) put(index, kind, record)
      else if (kind === 'service-policies') index.removePolicy(kind, id)
      else index.removeEntity(kind, id)
      await turn()
    }
  }
}

function put(index: AccessIndex, kind: Kind, record: RecordOf<Resource>): void {
  if (kind === 'service-policies') index.putPolicy(kind, indexedPolicy(resourceNamed(kind), record))
  else index.putEntity(kind, possibleEntity(record))
}

/**
 * An index of some identities and of everything that decides their access to dial and bind, as it would be after changes; with edge routers
 * and their policies on request. It is made for one question: its cost depends on the number of services and policies, not of identities.
 */
export async function changedIndex(
  { access, turns }: EngineContext,
  tx: ReadTransaction,
  identityIds: readonly string[],
  changes: readonly IndexChange[],
  withRouters = false,
): Promise<AccessIndex> {
  const known = await access.at(tx)
  const index = new AccessIndex()
  const turn = turns.begin()
  const kinds = ['services', 'posture-checks', ...(withRouters ? (['edge-routers'] as const) : [])] as const
  for (const kind of kinds) {
    const roster = known.roster(kind)
    for (const [slot, id] of roster.ids.entries()) {
      if (id !== undefined) index.putEntity(kind, { id, roleAttributes: roster.attributesOf(slot) })
      await turn()
    }
  }
  for (const id of identityIds) {
    const roleAttributes = known.rolesOf('identities', id).map((role) => role.slice(1))
    index.putEntity('identities', { id, roleAttributes })
  }
  for (const policy of (await tx.collection(servicePolicies).find()).items) {
    index.putPolicy('service-policies', indexedPolicy(servicePolicies, policy))
    await turn()
  }
  for (const kind of withRouters ? (['edge-router-policies', 'service-edge-router-policies'] as const) : []) {
    const resource = resourceNamed(kind)
    for (const policy of (await tx.collection(resource).find()).items) {
      index.putPolicy(kind, indexedPolicy(resource, policy))
      await turn()
    }
  }
  const wanted = new Set(identityIds)
  const concerned = changes.filter(({ kind, id }) => kind !== 'identities' || wanted.has(id))
  for (const _ of applying(index, concerned)) await turn()
  return index
}
