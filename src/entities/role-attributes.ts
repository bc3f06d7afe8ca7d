import type { EngineContext } from '../context/context.ts'
import type { EntityKind } from '../facts/access/index/index.ts'
import { RESOURCES, resourceNamed } from '../facts/resources/index.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { compareStrings } from '../kernel/filter/index.ts'
import type { FindQuery, Page, ReadTransaction } from '../ports/record-storage.ts'
import { pageOf } from '../records/read-records.ts'

/** The users of a role attribute: their number for each kind, by its name in the deployed stores, and their ids when asked for. */
export interface RoleAttributeUse {
  readonly roleAttribute: string
  readonly usage: Readonly<Record<string, { readonly count: number; readonly ids: readonly string[] | null }>>
}

/** A page of the role attributes that entities of a kind have, ascending. The access index knows them. */
export async function roleAttributesOf(
  { access }: EngineContext,
  tx: ReadTransaction,
  kind: EntityKind,
  query: FindQuery,
): Promise<Page<string>> {
  const index = await access.at(tx)
  const { items, totalCount } = pageOfNames(index.roleAttributes(kind), query)
  return { items: items.map(({ id }) => id), totalCount }
}

/** A page of the role attributes that entities of a kind have or that policies select among them, with those entities. */
export async function roleAttributeUses(
  { access }: EngineContext,
  tx: ReadTransaction,
  kind: EntityKind,
  query: FindQuery,
  withIds: boolean,
): Promise<Page<RoleAttributeUse>> {
  const selecting = await policiesByAttribute(tx, kind)
  const selectors = RESOURCES.filter(({ definition }) => Object.values(definition.selects ?? {}).includes(kind))
  const index = await access.at(tx)
  const names = new Set([...index.roleAttributes(kind), ...selecting.keys()])
  const { items, totalCount } = pageOfNames(names, query)
  const uses = items.map(({ id: roleAttribute }): RoleAttributeUse => {
    const users = selecting.get(roleAttribute)
    const policies = selectors.map(({ definition: { storeName } }) => {
      const ids = users?.get(storeName) ?? []
      return [storeName, { count: ids.length, ids: withIds ? ids : null }]
    })
    const holders = { count: index.countHolders(kind, roleAttribute), ids: null }
    const own = withIds ? { ...holders, ids: index.holdersOf(kind, roleAttribute) } : holders
    return { roleAttribute, usage: { [wordOf(kind)]: own, ...Object.fromEntries(policies) } }
  })
  return { items: uses, totalCount }
}

function pageOfNames(names: Iterable<string>, query: FindQuery): Page<{ readonly id: string }> {
  const sorted = [...names].sort(compareStrings)
  return pageOf(
    sorted.map((id) => ({ id })),
    query,
  )
}

/** The name of a kind among the users of a role attribute. */
function wordOf(kind: EntityKind): string {
  return kind === 'edge-routers' ? 'edgeRouters' : resourceNamed(kind).definition.storeName
}

/** For each role attribute, the policies that name it in a role list over the kind: ids by the name of the stores. */
async function policiesByAttribute(tx: ReadTransaction, kind: EntityKind) {
  const selecting = new Map<string, Map<string, string[]>>()
  for (const resource of RESOURCES) {
    const fields = Object.entries(resource.definition.selects ?? {}).filter(([, target]) => target === kind)
    if (fields.length === 0) continue
    for (const policy of (await tx.collection(resource).find()).items) {
      const roles = fields.flatMap(([field]) => textsIn(policy, field))
      for (const role of roles) if (role.startsWith('#') && role !== '#all') note(role.slice(1), resource, policy.id)
    }
  }
  return selecting

  function note(attribute: string, { definition }: Resource, id: string) {
    const byStore = selecting.get(attribute) ?? new Map<string, string[]>()
    selecting.set(attribute, byStore)
    byStore.set(definition.storeName, [...(byStore.get(definition.storeName) ?? []), id])
  }
}

function textsIn(record: RecordOf<Resource>, field: string): readonly string[] {
  const value = record[field]
  return Array.isArray(value) ? value : []
}
