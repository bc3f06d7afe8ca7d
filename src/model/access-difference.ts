import { textsIn } from '../base/members.ts'
import {
  AccessIndex,
  type AccessType,
  apply,
  type IndexChange,
  type IndexedPolicy,
  revert,
  SlotSet,
} from '../facts/access/index/index.ts'
import type { Body } from './managed-kinds.ts'
import { sameValue } from './read-entity.ts'

/** Access of one identity to one service that is gained or lost, both by name; `policies` grant it, after or before. */
export interface AccessChange {
  readonly identity: string
  readonly service: string
  readonly type: AccessType
  readonly change: 'gained' | 'lost'
  readonly policies: readonly string[]
}

/** The access that identities gain and lose, posture aside. */
export interface AccessDifference {
  readonly gained: number
  readonly lost: number
  /** The first changes, by service, type and identity. */
  readonly changes: readonly AccessChange[]
}

/** The part of a network that decides about access. */
export interface AccessView {
  entitiesOf(key: 'identities' | 'services' | 'servicePolicies'): ReadonlyMap<string, Body>
}

const KEYS = { identities: 'identities', services: 'services', 'service-policies': 'servicePolicies' } as const
const KINDS = ['identities', 'services', 'service-policies'] as const
const TYPES = ['Bind', 'Dial'] as const

/** Services that are compared at once: the sets of their identities are held in memory meanwhile. */
const CHUNK = 64

/** Compares the dial and bind rights in two networks; at most `limit` pairs are named, all are counted. */
export function accessDifference(before: AccessView, after: AccessView, limit: number): AccessDifference {
  const index = new AccessIndex()
  const changes: IndexChange[] = []
  for (const kind of KINDS) changes.push(...indexChanges(kind, before, after, index))
  const services = [
    ...new Set([...before.entitiesOf('services').keys(), ...after.entitiesOf('services').keys()]),
  ].sort()
  let gained = 0
  let lost = 0
  const named: AccessChange[] = []
  for (let from = 0; changes.length > 0 && from < services.length; from += CHUNK) {
    const pairs = services.slice(from, from + CHUNK).flatMap((service) => TYPES.map((type) => ({ service, type })))
    const known = pairs.map(({ service, type }) => index.audienceOf(service, type, new SlotSet()))
    const losers: Pair[] = []
    apply(index, changes)
    for (const [position, { service, type }] of pairs.entries()) {
      const was = known[position] ?? new SlotSet()
      const is = index.audienceOf(service, type, new SlotSet())
      gained += is.countWithout(was)
      lost += was.countWithout(is)
      if (named.length < limit && is.countWithout(was) > 0) {
        for (const identity of index.identitiesIn(is.without(was)).slice(0, limit - named.length)) {
          const policies = index.grantingPolicies(identity, service, type)
          named.push({ identity, service, type, change: 'gained', policies })
        }
      }
      // An entity that the changes remove has no name here: names of losers are read once the index is as before.
      if (was.countWithout(is) > 0) losers.push({ service, type, identities: was.without(is) })
    }
    revert(index, changes)
    for (const { service, type, identities } of losers) {
      if (named.length >= limit) break
      for (const identity of index.identitiesIn(identities).slice(0, limit - named.length)) {
        const policies = index.grantingPolicies(identity, service, type)
        named.push({ identity, service, type, change: 'lost', policies })
      }
    }
  }
  return { gained, lost, changes: named }
}

interface Pair {
  readonly service: string
  readonly type: AccessType
  readonly identities: SlotSet
}

/** Fills the index with the entities as they were, and answers the changes. */
function indexChanges(
  kind: (typeof KINDS)[number],
  before: AccessView,
  after: AccessView,
  index: AccessIndex,
): readonly IndexChange[] {
  const [old, next] = [before.entitiesOf(KEYS[kind]), after.entitiesOf(KEYS[kind])]
  const changes: IndexChange[] = []
  for (const name of new Set([...old.keys(), ...next.keys()])) {
    const [was, is] = [old.get(name), next.get(name)]
    if (kind === 'service-policies') {
      const change = { kind, id: name, before: was && asPolicy(name, was), after: is && asPolicy(name, is) }
      if (change.before !== undefined) index.putPolicy(kind, change.before)
      if (!sameValue(change.before, change.after)) changes.push(change)
    } else {
      const change = { kind, id: name, before: was && asEntity(name, was), after: is && asEntity(name, is) }
      if (change.before !== undefined) index.putEntity(kind, change.before)
      if (!sameValue(change.before, change.after)) changes.push(change)
    }
  }
  return changes
}

function asEntity(name: string, body: Body) {
  return { id: name, roleAttributes: textsIn(body.roleAttributes) }
}

function asPolicy(name: string, { type, semantic, identityRoles, serviceRoles }: Body): IndexedPolicy {
  return {
    id: name,
    semantic: semantic === 'AllOf' ? 'AllOf' : 'AnyOf',
    roles: { identities: textsIn(identityRoles), services: textsIn(serviceRoles) },
    ...(type === 'Dial' || type === 'Bind' ? { type } : {}),
  }
}
