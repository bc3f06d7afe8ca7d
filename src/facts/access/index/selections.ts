import {
  type AccessType,
  type EntityKind,
  type IndexedEntity,
  type IndexedPolicy,
  type PolicyKind,
  SIDES_OF,
} from './kinds.ts'
import { PolicyTable } from './policy-table.ts'
import { Population, type Roster } from './population.ts'
import { ServicePolicyTable } from './service-policy-table.ts'
import { SlotSet } from './slot-set.ts'
import type { OrderedIds } from './slot-table.ts'

/** The numbers of entities and policies of each kind. */
export type IndexCounts = Readonly<Record<EntityKind | PolicyKind, number>>

/** All entities and policies, and the entities that each side of a policy selects. */
export class Selections {
  protected readonly entities: Readonly<Record<EntityKind, Population>> = {
    identities: new Population(),
    services: new Population(),
    'edge-routers': new Population(),
    'posture-checks': new Population(),
  }
  protected readonly policies: Readonly<Record<PolicyKind, PolicyTable>> & {
    readonly 'service-policies': ServicePolicyTable
  } = {
    'service-policies': new ServicePolicyTable(this.entities),
    'edge-router-policies': new PolicyTable(SIDES_OF['edge-router-policies'], this.entities),
    'service-edge-router-policies': new PolicyTable(SIDES_OF['service-edge-router-policies'], this.entities),
  }

  /** Puts an entity with these role attributes, in place of its former attributes. */
  putEntity(kind: EntityKind, entity: IndexedEntity): void {
    const change = this.entities[kind].put(entity)
    for (const policies of Object.values(this.policies)) policies.refresh(kind, change)
  }

  /** Removes an entity. An `@id` entry that names it selects nothing until an entity has that id again. */
  removeEntity(kind: EntityKind, id: string): void {
    const change = this.entities[kind].remove(id)
    if (change === undefined) return
    for (const policies of Object.values(this.policies)) policies.refresh(kind, change)
  }

  /** Puts a policy with these role lists, semantic and type, in place of its former state. */
  putPolicy(kind: PolicyKind, policy: IndexedPolicy): void {
    this.policies[kind].put(policy)
  }

  removePolicy(kind: PolicyKind, id: string): void {
    this.policies[kind].remove(id)
  }

  /** The numbers of entities and policies of each kind, in constant time. */
  counts(): IndexCounts {
    const { entities, policies } = this
    return {
      identities: entities.identities.size,
      services: entities.services.size,
      'edge-routers': entities['edge-routers'].size,
      'posture-checks': entities['posture-checks'].size,
      'service-policies': policies['service-policies'].size,
      'edge-router-policies': policies['edge-router-policies'].size,
      'service-edge-router-policies': policies['service-edge-router-policies'].size,
    }
  }

  has(kind: EntityKind | PolicyKind, id: string): boolean {
    return isPolicyKind(kind) ? this.policies[kind].has(id) : this.entities[kind].slotOf(id) !== undefined
  }

  /** Reports whether there is any entity of the kind. */
  hasAny(kind: EntityKind): boolean {
    return this.entities[kind].everyone.size > 0
  }

  /** The current entities of the kind with their role attributes, for work over several turns. */
  roster(kind: EntityKind): Roster {
    return this.entities[kind].roster()
  }

  /** Reports whether the entity is in a set of this index. */
  isIn(set: SlotSet, kind: EntityKind, id: string): boolean {
    const slot = this.entities[kind].slotOf(id)
    return slot !== undefined && set.has(slot)
  }

  /** The `#` entries that select the entity; empty for an unknown entity. */
  rolesOf(kind: EntityKind, id: string): string[] {
    const slot = this.entities[kind].slotOf(id)
    return slot === undefined ? [] : this.entities[kind].attributeRoles(slot)
  }

  /** The role attributes that entities of the kind have, in no promised order. */
  roleAttributes(kind: EntityKind): string[] {
    return this.entities[kind].attributeNames()
  }

  /** The entities of the kind that have the role attribute. */
  holdersOf(kind: EntityKind, attribute: string): string[] {
    const holders = this.entities[kind].holders(attribute)
    return holders === undefined ? [] : this.entities[kind].idsOf(holders)
  }

  countHolders(kind: EntityKind, attribute: string): number {
    return this.entities[kind].holders(attribute)?.size ?? 0
  }

  /** The entities of the kind that the policy selects: one side of one policy. */
  selectedBy(policyKind: PolicyKind, policyId: string, entityKind: EntityKind): string[] {
    return this.entities[entityKind].idsOf(this.policies[policyKind].members(policyId, entityKind))
  }

  /** The same as a list that is read on demand. It must be read before the index changes. */
  selectedList(policyKind: PolicyKind, policyId: string, entityKind: EntityKind): OrderedIds {
    return this.entities[entityKind].listOf(this.policies[policyKind].members(policyId, entityKind))
  }

  /** The same as a set that can be compared with others of this index. */
  selection(policyKind: PolicyKind, policyId: string, entityKind: EntityKind): SlotSet {
    return this.policies[policyKind].members(policyId, entityKind)
  }

  /** The type of access that a service policy grants; undefined for an unknown policy. */
  typeOf(servicePolicyId: string): AccessType | undefined {
    return this.policies['service-policies'].typeOf(servicePolicyId)
  }

  /** The number of entities of the kind that the policy selects, optionally only within `among`. */
  countSelected(policyKind: PolicyKind, policyId: string, entityKind: EntityKind, among?: SlotSet): number {
    const members = this.policies[policyKind].members(policyId, entityKind)
    if (among !== undefined) members.retainAll(among)
    return members.size
  }

  /** The entities of the kind that have these ids, as a set that can be compared with others of this index. */
  entitiesNamed(kind: EntityKind, ids: Iterable<string>): SlotSet {
    const named = new SlotSet()
    for (const id of ids) {
      const slot = this.entities[kind].slotOf(id)
      if (slot !== undefined) named.add(slot)
    }
    return named
  }

  /** The policies of the kind that select the entity. */
  policiesSelecting(policyKind: PolicyKind, entityKind: EntityKind, entityId: string): string[] {
    const slot = this.entities[entityKind].slotOf(entityId)
    if (slot === undefined) return []
    const policies = this.policies[policyKind]
    return policies.idsOf(policies.selectingEver(entityKind, slot))
  }
}

function isPolicyKind(kind: EntityKind | PolicyKind): kind is PolicyKind {
  return Object.hasOwn(SIDES_OF, kind)
}
