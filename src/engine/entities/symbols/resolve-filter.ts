import { type Filter, ids, isIn, type Literal, matches } from '../../../domain/filter/index.ts'
import type { ComputedSymbol } from '../../../resources/declaration/computed-symbol.ts'
import { type Leaf, policiesSelecting } from './policies-selecting.ts'
import { computedSymbol, type SymbolScope } from './symbol-scope.ts'
import { symbolValues, targetsOf } from './symbol-values.ts'

/** The same condition in terms of stored fields, as of the snapshot of the scope. */
export async function resolveFilter(scope: SymbolScope, filter: Filter): Promise<Filter> {
  if (!namesComputed(scope, filter)) return filter
  switch (filter.kind) {
    case 'all':
      return filter
    case 'not':
      return { kind: 'not', of: await resolveFilter(scope, filter.of) }
    case 'and':
    case 'or': {
      const left = await resolveFilter(scope, filter.left)
      return { kind: filter.kind, left, right: await resolveFilter(scope, filter.right) }
    }
    default: {
      const name = fieldOf(filter)
      const symbol = computedSymbol(scope.resource, name)
      return symbol === undefined ? filter : resolveLeaf(scope, symbol, name, filter)
    }
  }
}

async function resolveLeaf(scope: SymbolScope, symbol: ComputedSymbol, name: string, leaf: Leaf): Promise<Filter> {
  switch (symbol.by) {
    case 'constant':
      return matches(leaf, { [name]: symbol.value }) ? { kind: 'all' } : { kind: 'not', of: { kind: 'all' } }
    case 'policy':
      return policiesSelecting(scope, symbol.selected, leaf)
    case 'reference':
      return referring(scope, symbol.reference, symbol.field, leaf)
    case 'member':
    case 'presence': {
      const records = await scope.records()
      const valueIn = await symbolValues(scope, symbol, records)
      return ids(records.filter((record) => matches(leaf, { [name]: valueIn(record) })).map(({ id }) => id))
    }
  }
}

/** The entities that fulfil the condition are found first, by whatever index there is for it. */
async function referring({ tx, resource }: SymbolScope, reference: string, field: string, leaf: Leaf) {
  const where: Filter = leaf.kind === 'isEmpty' ? leaf : { ...leaf, operand: { kind: 'field', field } }
  const found: Literal[] = []
  for (const target of targetsOf(resource, reference)) {
    const { items } = await tx.collection(target).find({ where })
    found.push(...items.map(({ id }) => id))
  }
  return isIn(reference, found)
}

function namesComputed(scope: SymbolScope, filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return false
    case 'not':
      return namesComputed(scope, filter.of)
    case 'and':
    case 'or':
      return namesComputed(scope, filter.left) || namesComputed(scope, filter.right)
    default:
      return computedSymbol(scope.resource, fieldOf(filter)) !== undefined
  }
}

function fieldOf(leaf: Leaf): string {
  return leaf.kind === 'isEmpty' ? leaf.field : leaf.operand.field
}
