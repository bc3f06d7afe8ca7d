import { ids } from '../../../domain/filter/index.ts'
import type { ComputedSymbol } from '../../../resources/declaration/computed-symbol.ts'
import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'
import { resourceNamed } from '../../../resources/index.ts'
import type { SymbolScope } from './symbol-scope.ts'

type AnyRecord = RecordOf<Resource>

/** What a computed symbol is of each of some records. A set that a policy selects has no value of its own here: null. */
export async function symbolValues(
  scope: SymbolScope,
  symbol: ComputedSymbol,
  records: readonly AnyRecord[],
): Promise<(record: AnyRecord) => unknown> {
  switch (symbol.by) {
    case 'constant':
      return () => symbol.value
    case 'member':
      return (record) => symbol.path.reduce(memberOf, record[symbol.field])
    case 'presence': {
      const presence = await scope.context.presence.at(scope.tx)
      return ({ id }) => presence.connectionOf(id) !== undefined
    }
    case 'reference': {
      const referred = await referredEntities(scope, symbol.reference, records)
      return (record) => referred.get(String(record[symbol.reference]))?.[symbol.field] ?? null
    }
    case 'policy':
      return () => null
  }
}

/** The resources that the id in a field may belong to. */
export function targetsOf({ definition }: Resource, field: string): readonly Resource[] {
  const reference = definition.references?.[field]
  if (reference === undefined) throw new Error(`${definition.name}.${field} refers to nothing`)
  return [reference.to, ...(reference.orTo === undefined ? [] : [reference.orTo])].map(resourceNamed)
}

async function referredEntities({ tx, resource }: SymbolScope, field: string, records: readonly AnyRecord[]) {
  const where = ids(new Set(records.map((record) => String(record[field]))))
  const referred = new Map<string, AnyRecord>()
  for (const target of targetsOf(resource, field)) {
    const { items } = await tx.collection(target).find({ where })
    for (const item of items) referred.set(item.id, item)
  }
  return referred
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : null
}
