import { ControllerError } from '../base/errors.ts'
import { type Call, isAdminCall, mayRead } from '../kernel/context/call.ts'
import type { ComputedSymbol, Resource } from '../kernel/declaration/resource.ts'
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
} from '../kernel/filter/index.ts'
import { resourceNamed } from '../resources/index.ts'
import { computedSymbol, linkOf, type SymbolScope, symbolScope, symbolValues, targetsOf } from './entity-symbols.ts'
import { policiesSelecting } from './policies-selecting.ts'

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

/** Members that a reference shows of its entity to everybody who sees the reference. */
const SHOWN_BY_REFERENCE: readonly string[] = ['id', 'name']

/**
 * Refuses a filter that asks about entities which the caller may not read: whether a list is empty would tell about them.
 * Members that the records of the list show themselves may be asked for: the ids in a field, and the name beside a reference.
 * Error: `INVALID_FILTER`.
 */
export function refuseUnreadable(call: Call, resource: Resource, filter: Filter | undefined): void {
  if (filter === undefined || isAdminCall(call)) return
  for (const leaf of leavesOf(filter)) {
    const target = linkOf(resource, fieldOf(leaf))
    if (target === undefined) continue
    const where = whereOf(leaf)
    if (!isShown(resource, fieldOf(leaf), where) && !mayList(call, target)) throw unreadable(target)
    refuseUnreadable(call, target, where)
  }
}

/** Reports whether the records of a resource tell by themselves what a filter asks of the entities in one of their fields. */
function isShown(resource: Resource, field: string, where: Filter | undefined): boolean {
  if (computedSymbol(resource, field) !== undefined) return false
  const isReferenceShown = resource.definition.references?.[field]?.show !== undefined
  const shown = isReferenceShown ? SHOWN_BY_REFERENCE : ['id']
  return where === undefined || leavesOf(where).every((leaf) => shown.includes(fieldOf(leaf)))
}

function mayList(call: Call, { definition }: Resource): boolean {
  return !definition.adminOnly?.includes('list') && mayRead(call, definition.permission)
}

function unreadable({ definition }: Resource): ControllerError {
  const message = `a filter may ask about ${definition.name} only for who may read them`
  return new ControllerError('INVALID_FILTER', { code: 'UNHANDLED', message })
}
