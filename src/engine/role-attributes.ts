import { compareStrings } from '../domain/filter/index.ts'
import type { ReadTransaction } from '../ports/storage.ts'
import { RESOURCES, resourceNamed } from '../resources/index.ts'
import type { RecordOf, Resource } from '../resources/resource.ts'

/** Who uses a role attribute: of each kind, by the word of the deployed stores, the ids. */
export interface RoleAttributeUse {
  readonly roleAttribute: string
  readonly usage: ReadonlyMap<string, readonly string[]>
}

/** The role attributes that entities of a kind have, ascending. */
export async function roleAttributesOf(tx: ReadTransaction, kind: string): Promise<readonly string[]> {
  const { items } = await tx.collection(resourceNamed(kind)).find()
  const attributes = items.flatMap((entity) => textsIn(entity, 'roleAttributes'))
  return [...new Set(attributes)].sort(compareStrings)
}

/** The role attributes that entities of a kind have or that policies select among them, with who does, ascending. */
export async function roleAttributeUses(tx: ReadTransaction, kind: string): Promise<readonly RoleAttributeUse[]> {
  const uses = new Map<string, Map<string, string[]>>()
  const note = (attribute: string, { definition }: Resource, id: string) => {
    const usage = uses.get(attribute) ?? new Map<string, string[]>()
    uses.set(attribute, usage)
    usage.set(definition.storeName, [...(usage.get(definition.storeName) ?? []), id])
  }
  const selected = resourceNamed(kind)
  for (const entity of (await tx.collection(selected).find()).items) {
    for (const attribute of textsIn(entity, 'roleAttributes')) note(attribute, selected, entity.id)
  }
  for (const resource of RESOURCES) {
    const fields = Object.entries(resource.definition.selects ?? {}).filter(([, target]) => target === kind)
    if (fields.length === 0) continue
    for (const policy of (await tx.collection(resource).find()).items) {
      const roles = fields.flatMap(([field]) => textsIn(policy, field))
      for (const role of roles) if (role.startsWith('#') && role !== '#all') note(role.slice(1), resource, policy.id)
    }
  }
  const sorted = [...uses].sort(([a], [b]) => compareStrings(a, b))
  return sorted.map(([roleAttribute, usage]) => ({ roleAttribute, usage }))
}

function textsIn(record: RecordOf<Resource>, field: string): readonly string[] {
  const value = record[field]
  return Array.isArray(value) ? value : []
}
