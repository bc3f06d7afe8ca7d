import { ControllerError } from '../base/errors.ts'
import { type Call, isAdminCall, mayRead } from '../context/call.ts'
import type { AccessIndex, EntityKind, PolicyKind, SlotSet } from '../facts/access/index/index.ts'
import { resourceNamed } from '../facts/resources/index.ts'
import type { ComputedSymbol, Resource } from '../kernel/declaration/resource.ts'
import {
  type Filter,
  fieldOf,
  fulfils,
  ids,
  isIn,
  type Leaf,
  type Literal,
  leavesOf,
  matches,
  whereOf,
  withWhere,
} from '../kernel/filter/index.ts'
import { computedSymbol, linkOf, type SymbolScope, symbolScope, symbolValues, targetsOf } from './entity-symbols.ts'
import { identitiesInState } from './identity-states.ts'

/**
 * The same condition in terms of stored fields, as of the snapshot of the scope. Conditions on other entities are
 * answered first, by their indexes, and the ids of those entities take their place.
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

const ALL: Filter = { kind: 'all' }
const NONE: Filter = { kind: 'not', of: ALL }

async function resolveLeaf(scope: SymbolScope, symbol: ComputedSymbol, name: string, leaf: Leaf): Promise<Filter> {
  switch (symbol.by) {
    case 'constant':
      return matches(leaf, { [name]: symbol.value }) ? ALL : NONE
    case 'policy': {
      const where = whereOf(leaf)
      if (where === undefined) return policiesSelecting(scope, symbol.selected, leaf)
      const found = await linkedIds(scope, resourceNamed(symbol.selected), where)
      return policiesSelecting(scope, symbol.selected, withWhere(leaf, ids(found)))
    }
    case 'reference':
      return referring(scope, symbol.reference, symbol.field, leaf)
    case 'state': {
      const inState = ids(await identitiesInState(scope.context, scope.tx, symbol.state))
      const [isForThem, isForOthers] = [true, false].map((value) => matches(leaf, { [name]: value }))
      if (isForThem === isForOthers) return isForThem ? ALL : NONE
      return isForThem ? inState : { kind: 'not', of: inState }
    }
    case 'member':
    case 'presence': {
      const records = await scope.records()
      const valueIn = await symbolValues(scope, symbol, records)
      return ids(records.filter((record) => matches(leaf, { [name]: valueIn(record) })).map(({ id }) => id))
    }
  }
}

/** The entities that fulfil the condition are found first, by an index where there is one. */
async function referring({ tx, resource }: SymbolScope, reference: string, field: string, leaf: Leaf) {
  const where: Filter = leaf.kind === 'isEmpty' ? leaf : { ...leaf, operand: { kind: 'field', field } }
  const found: Literal[] = []
  for (const target of targetsOf(resource, reference)) {
    for (const id of await tx.collection(target).findIds({ where })) found.push(id)
  }
  return isIn(reference, found)
}

/** Members of an entity that a reference shows to every reader of the reference. */
const SHOWN_BY_REFERENCE: readonly string[] = ['id', 'name']

/**
 * Refuses a filter about entities that the caller may not read: even an empty list would reveal facts about them. Members that the
 * records of the list show themselves may be asked for: the ids in a field, and the name beside a reference. Error: `INVALID_FILTER`.
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

/** Reports whether the records of a resource themselves show the facts that a filter asks of the entities in one of their fields. */
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
  const message = `a filter may ask about ${definition.name} only for callers that may read them`
  return new ControllerError('INVALID_FILTER', { code: 'UNHANDLED', message })
}

type Comparing = Exclude<Leaf, { readonly kind: 'isEmpty' }>

/**
 * Finds the policies whose selected entities fulfil a condition on a set: `anyOf(identities) = "id"`, `count(services) > 3`. They
 * are counted in the access index; no set is written out.
 */
async function policiesSelecting(scope: SymbolScope, selected: string, leaf: Leaf): Promise<Filter> {
  const index = await scope.context.access.at(scope.tx)
  const kind = entityKind(selected)
  const policies = policyKind(scope.resource)
  const holds = await testOf(scope, index, kind, leaf)
  const found = (await scope.records()).filter(({ id }) =>
    holds((among) => index.countSelected(policies, id, kind, among)),
  )
  return ids(found.map(({ id }) => id))
}

/** Decides by the number of a policy's entities, in all or among some. */
type Test = (count: (among?: SlotSet) => number) => boolean

async function testOf(scope: SymbolScope, index: AccessIndex, kind: EntityKind, leaf: Leaf): Promise<Test> {
  const among = async (where: Filter | undefined) =>
    where === undefined ? undefined : index.entitiesNamed(kind, await entitiesWith(scope, kind, where))
  if (leaf.kind === 'isEmpty') {
    const counted = await among(leaf.where)
    return (count) => count(counted) === 0
  }
  const { operand } = leaf
  switch (operand.kind) {
    case 'count': {
      const counted = await among(operand.where)
      return (count) => fulfils(count(counted), leaf)
    }
    case 'anyOf': {
      const fulfilling = await among(ofElement(leaf))
      return (count) => count(fulfilling) > 0
    }
    case 'allOf': {
      const failing = await among({ kind: 'not', of: ofElement(leaf) })
      return (count) => count(failing) === 0
    }
    default:
      return () => matches(leaf, {})
  }
}

/** The condition on one element, which is an id. */
function ofElement(leaf: Comparing): Filter {
  return { ...leaf, operand: { kind: 'field', field: 'id' } }
}

function entitiesWith({ tx }: SymbolScope, kind: EntityKind, where: Filter): Promise<readonly string[]> {
  return tx.collection(resourceNamed(kind)).findIds({ where })
}

function entityKind(name: string): EntityKind {
  const kind = (['identities', 'services', 'edge-routers', 'posture-checks'] as const).find((one) => one === name)
  if (kind === undefined) throw new Error(`role lists do not select ${name}`)
  return kind
}

function policyKind({ name }: Resource): PolicyKind {
  const kinds = ['service-policies', 'edge-router-policies', 'service-edge-router-policies'] as const
  const kind = kinds.find((one) => one === name)
  if (kind === undefined) throw new Error(`${name} have no role lists`)
  return kind
}
