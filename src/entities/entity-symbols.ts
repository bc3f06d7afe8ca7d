import type { EngineContext } from '../context/context.ts'
import { resourceNamed } from '../facts/resources/index.ts'
import { linkedBy } from '../kernel/declaration/derive.ts'
import type { ComputedSymbol, RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { everyRecord } from '../records/read-records.ts'
import { identitiesInState } from './identity-states.ts'

type AnyRecord = RecordOf<Resource>

/** Computes a symbol for some records. A set that a policy selects has no value of its own here: null. */
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
    case 'state': {
      const inState = await identitiesInState(scope.context, scope.tx, symbol.state)
      return ({ id }) => inState.has(id)
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

/** The scope in which symbols are computed: one resource in one snapshot. */
export interface SymbolScope {
  readonly context: EngineContext
  readonly tx: ReadTransaction
  readonly resource: Resource
  /** Every record of the resource, read once however many symbols ask. */
  records(): Promise<readonly RecordOf<Resource>[]>
}

export function symbolScope(context: EngineContext, tx: ReadTransaction, resource: Resource): SymbolScope {
  let all: Promise<readonly RecordOf<Resource>[]> | undefined
  return {
    context,
    tx,
    resource,
    records() {
      all ??= allRecords(context, tx, resource)
      return all
    },
  }
}

async function allRecords(
  { turns }: EngineContext,
  tx: ReadTransaction,
  resource: Resource,
): Promise<readonly AnyRecord[]> {
  const all: AnyRecord[] = []
  for await (const { items } of everyRecord(tx, resource, turns)) all.push(...items)
  return all
}

/** The computed symbol of a name; undefined for a stored field. */
export function computedSymbol({ computed }: Resource, name: string): ComputedSymbol | undefined {
  return Object.hasOwn(computed, name) ? computed[name] : undefined
}

/** The resource whose entities a field of another names, by reference or by role lists. */
export function linkOf(resource: Resource, field: string): Resource | undefined {
  const computed = computedSymbol(resource, field)
  const name = computed === undefined ? linkedBy(resource.definition, field) : selectedBy(computed)
  return name === undefined ? undefined : resourceNamed(name)
}

function selectedBy(computed: NonNullable<ReturnType<typeof computedSymbol>>): string | undefined {
  return computed.by === 'policy' ? computed.selected : undefined
}
