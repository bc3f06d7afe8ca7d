import type { AccessIndex, EntityKind, PolicyKind, SlotSet } from '../access/index/index.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import { type Filter, fulfils, ids, type Leaf, matches } from '../kernel/filter/index.ts'
import { resourceNamed } from '../resources/index.ts'

import type { SymbolScope } from './entity-symbols.ts'

type Comparing = Exclude<Leaf, { readonly kind: 'isEmpty' }>

/**
 * Finds the policies whose selected entities fulfil a condition on a set: `anyOf(identities) = "id"`, `count(services) > 3`. They
 * are counted in the access index; no set is written out.
 */
export async function policiesSelecting(scope: SymbolScope, selected: string, leaf: Leaf): Promise<Filter> {
  const index = await scope.context.access.at(scope.tx)
  const kind = entityKind(selected)
  const policies = policyKind(scope.resource)
  const holds = await testOf(scope, index, kind, leaf)
  const found = (await scope.records()).filter(({ id }) =>
    holds((among) => index.countSelected(policies, id, kind, among)),
  )
  return ids(found.map(({ id }) => id))
}

/** Decides by how many of a policy's entities are among some, or by how many there are. */
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
