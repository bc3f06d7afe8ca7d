import { invalidField, notFound } from '../../base/errors.ts'
import type { IndexChange, IndexedEntity } from '../../facts/access/index/index.ts'
import { indexedPolicy, possibleEntity } from '../../facts/access/indexed-records.ts'
import { asCreate, asPatch } from '../../facts/resources/entity-requests.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import type * as wire from '../../facts/resources/wire-names.ts'
import type { RecordOf, Resource } from '../../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import type { Turns } from '../../ports/runtime.ts'
import { newRecord } from '../../records/read-records.ts'
import { checkRoleLists } from '../../records/references.ts'
import { mergePatch } from '../../records/resource-service.ts'

/** An entity or policy before all changes and after them. */
interface Touched {
  readonly kind: SimulatedKind
  readonly id: string
  readonly before: RecordOf<Resource> | undefined
  after: RecordOf<Resource> | undefined
}

/** The outcome of changes, one after the other, for the access index and for people. */
export interface ResolvedChanges {
  readonly indexChanges: readonly IndexChange[]
  /** Names of touched entities, by kind and id, as they were or will be. */
  nameOf(kind: SimulatedKind, id: string): string | undefined
  /** The touched records of a kind, by id, as they would be; undefined for deleted records. */
  of(kind: SimulatedKind): ReadonlyMap<string, RecordOf<Resource> | undefined>
}

/**
 * Applies changes that their schema has read, in their order, without writing them. Errors: `NOT_FOUND` for an id that names nothing at
 * that point, `COULD_NOT_VALIDATE` for an id that is taken and for role lists that a write would refuse. Unique names are not judged.
 * `asEntity` says which role attributes count: by default also those of grants that begin later.
 */
export async function resolveChanges(
  tx: ReadTransaction,
  changes: readonly SimulatedChange[],
  turns: Turns,
  asEntity: AsEntity = possibleEntity,
): Promise<ResolvedChanges> {
  const turn = turns.begin()
  const touched = new Map<string, Touched>()
  const created = new Set<string>()
  const touch = async (kind: SimulatedKind, id: string): Promise<Touched> => {
    const known = touched.get(keyOf(kind, id))
    if (known !== undefined) return known
    const before = await tx.collection(resourceNamed(kind)).get(id)
    const entry = { kind, id, before, after: before }
    touched.set(keyOf(kind, id), entry)
    return entry
  }
  for (const [position, change] of changes.entries()) {
    const { kind, action } = change
    const resource = resourceNamed(kind)
    const id = change.id ?? `new-${position + 1}`
    const entry = await touch(kind, id)
    if (action === 'create') {
      if (entry.after !== undefined) throw invalidField('id', `there is a ${resource.definition.singular} with it`, id)
      entry.after = newRecord(id, 0, asCreate(resource, change.body))
      created.add(`@${id}`)
    } else {
      if (entry.after === undefined) throw notFound(resource.definition.singular, id)
      entry.after = action === 'delete' ? undefined : mergePatch(resource, entry.after, asPatch(resource, change.body))
    }
    if (entry.after !== undefined)
      await checkRoleLists(tx, resource, without(resource, entry.after, created), entry.before)
    await turn()
  }
  return {
    indexChanges: [...touched.values()].flatMap((entry) => asIndexChange(entry, asEntity)),
    nameOf: (kind, id) => {
      const entry = touched.get(keyOf(kind, id))
      const name = (entry?.after ?? entry?.before)?.name
      return typeof name === 'string' ? name : undefined
    },
    of: (kind) => {
      const entries = [...touched.values()].filter((entry) => entry.kind === kind)
      return new Map(entries.map(({ id, after }) => [id, after]))
    },
  }
}

function keyOf(kind: SimulatedKind, id: string): string {
  return `${kind} ${id}`
}

/** Role lists may name entities that the changes create, which the store does not know. */
function without(resource: Resource, record: RecordOf<Resource>, created: ReadonlySet<string>): RecordOf<Resource> {
  const lists = Object.keys(resource.definition.selects ?? {}).flatMap((field) => {
    const roles: unknown = record[field]
    if (!Array.isArray(roles) || !roles.some((role) => created.has(role))) return []
    return [[field, roles.filter((role) => !created.has(role))]]
  })
  return { ...record, ...Object.fromEntries(lists) }
}

type AsEntity = (record: RecordOf<Resource>) => IndexedEntity

function asIndexChange({ kind, id, before, after }: Touched, asEntity: AsEntity): readonly IndexChange[] {
  if (before === undefined && after === undefined) return []
  if (kind === 'service-policies') {
    const resource = resourceNamed(kind)
    return [
      { kind, id, before: before && indexedPolicy(resource, before), after: after && indexedPolicy(resource, after) },
    ]
  }
  return [{ kind, id, before: before && asEntity(before), after: after && asEntity(after) }]
}

/** The kinds of entity that decide the access to dial and bind, with the requests that create and change them. */
interface SimulatedKinds {
  readonly identities: { readonly create: wire.IdentityCreate; readonly update: wire.IdentityPatch }
  readonly services: { readonly create: wire.ServiceCreate; readonly update: wire.ServicePatch }
  readonly 'service-policies': { readonly create: wire.ServicePolicyCreate; readonly update: wire.ServicePolicyPatch }
}

export type SimulatedKind = keyof SimulatedKinds

/**
 * A change in the words of the resources' own requests. A created entity may be given an id, under which later changes
 * and role lists (`@id`) refer to it. Otherwise its id is `new-1`, `new-2` and so on, by its place among the changes.
 */
export type SimulatedChange = {
  readonly [K in SimulatedKind]:
    | {
        readonly kind: K
        readonly action: 'create'
        readonly id?: string | undefined
        readonly body: SimulatedKinds[K]['create']
      }
    | {
        readonly kind: K
        readonly action: 'update'
        readonly id: string
        readonly body: SimulatedKinds[K]['update']
      }
    | { readonly kind: K; readonly action: 'delete'; readonly id: string }
}[SimulatedKind]
