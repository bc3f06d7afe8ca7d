import {
  type Filter,
  fieldOf,
  ids,
  isIn,
  type Leaf,
  type Literal,
  leavesOf,
  matches,
  whereOf,
  withWhere,
} from '../../../domain/filter/index.ts'

import type { ComputedSymbol } from '../../../resources/declaration/computed-symbol.ts'
import type { Resource } from '../../../resources/declaration/resource.ts'
import { resourceNamed } from '../../../resources/index.ts'
import { linkOf } from './links.ts'
import { policiesSelecting } from './policies-selecting.ts'
import { computedSymbol, type SymbolScope, symbolScope } from './symbol-scope.ts'

import { symbolValues, targetsOf } from './symbol-values.ts'

/**
 * The same condition in terms of stored fields, as of the snapshot of the scope: what it asks of other entities is asked
 * first, by whatever index there is for it, and their ids stand in its place.
 */
export async function resolveFilter(scope: SymbolScope, filter: Filter): Promise<Filter> {
  if (leavesOf(filter).every((leaf) => isStored(scope.resource, leaf))) return filter
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
      return symbol === undefined ? resolveLink(scope, filter) : resolveLeaf(scope, symbol, name, filter)
    }
  }
}

function isStored(resource: Resource, leaf: Leaf): boolean {
  const isOfElements = whereOf(leaf) !== undefined && linkOf(resource, fieldOf(leaf)) !== undefined
  return !isOfElements && computedSymbol(resource, fieldOf(leaf)) === undefined
}

/** A condition on entities whose ids a stored field holds: a set, or a single one. */
async function resolveLink(scope: SymbolScope, leaf: Leaf): Promise<Filter> {
  const where = whereOf(leaf)
  const target = linkOf(scope.resource, fieldOf(leaf))
  if (where === undefined || target === undefined) return leaf
  const found = await linkedIds(scope, target, where)
  if (scope.resource.fields[fieldOf(leaf)] === 'set') return withWhere(leaf, ids(found))
  return { kind: 'not', of: isIn(fieldOf(leaf), found) }
}

async function linkedIds({ context, tx }: SymbolScope, target: Resource, where: Filter): Promise<readonly string[]> {
  const resolved = await resolveFilter(symbolScope(context, tx, target), where)
  return tx.collection(target).findIds({ where: resolved })
}

async function resolveLeaf(scope: SymbolScope, symbol: ComputedSymbol, name: string, leaf: Leaf): Promise<Filter> {
  switch (symbol.by) {
    case 'constant':
      return matches(leaf, { [name]: symbol.value }) ? { kind: 'all' } : { kind: 'not', of: { kind: 'all' } }
    case 'policy': {
      const where = whereOf(leaf)
      if (where === undefined) return policiesSelecting(scope, symbol.selected, leaf)
      const found = await linkedIds(scope, resourceNamed(symbol.selected), where)
      return policiesSelecting(scope, symbol.selected, withWhere(leaf, ids(found)))
    }
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
    for (const id of await tx.collection(target).findIds({ where })) found.push(id)
  }
  return isIn(reference, found)
}
