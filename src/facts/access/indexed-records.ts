import type { RecordOf, Resource } from '../../kernel/declaration/resource.ts'
import { type AttributeHolder, attributesHeld, attributesPossible } from '../authority/authority.rules.ts'
import { type EntityKind, type IndexedEntity, type IndexedPolicy, POLICY_KINDS } from './index/index.ts'
import { mayGrant, PHASES, type TermInPhase } from './policy-term.rules.ts'

/** The kinds of entities that the access index holds. */
export const ENTITY_KINDS: readonly EntityKind[] = ['identities', 'services', 'edge-routers', 'posture-checks']

/** Reports whether the access index holds something of a kind. */
export function isIndexed(kind: string): boolean {
  return [...ENTITY_KINDS, ...POLICY_KINDS].some((name) => name === kind)
}

/** A record with its role attributes, as far as it was read. */
export interface RolesRecord extends AttributeHolder {
  readonly id: string
  readonly directoryDueAt?: unknown
  readonly grantsDueAt?: unknown
}

/** The fields of a record by which an entity is indexed. */
export function rosterFields(kind: EntityKind) {
  const fields = [
    'roleAttributes',
    'claimAttributes',
    'directoryAttributes',
    'directoryUntil',
    'directoryDueAt',
    'attributeGrants',
    'grantsDueAt',
  ] as const
  return kind === 'identities' ? fields : fields.slice(0, 1)
}

/** An entity as the index holds it: role attributes that end count as the store says, and no longer than that at `now` (epoch ms). */
export function indexedEntity(record: RolesRecord, now?: number): IndexedEntity {
  return { id: record.id, roleAttributes: attributesHeld(record, now) }
}

/** An entity as plans and simulations count it: also with grants that begin later. */
export function possibleEntity(record: RolesRecord): IndexedEntity {
  return { id: record.id, roleAttributes: attributesPossible(record) }
}

/**
 * `unreadableChecks` are selected where any posture check is selected by attribute. `grants` judges the term of a service policy: by
 * default also a policy that begins later grants, as plans and simulations count it.
 */
export function indexedPolicy(
  resource: Resource,
  record: RecordOf<Resource>,
  unreadableChecks: readonly string[] = [],
  grants: (term: TermInPhase) => boolean = mayGrant,
): IndexedPolicy {
  const sides = Object.entries(resource.definition.selects ?? {})
  const rolesIn = (field: string, kind: string) => {
    const list = textList(record[field])
    const mayBeMore = kind === 'posture-checks' && list.some((role) => role.startsWith('#'))
    return mayBeMore ? [...list, ...unreadableChecks.map((id) => `@${id}`)] : list
  }
  const roles = Object.fromEntries(sides.map(([field, kind]) => [kind, rolesIn(field, kind)]))
  const { type, semantic } = record
  return {
    id: record.id,
    // A value that is neither, in a store that is damaged, grants less rather than more.
    semantic: semantic === 'AnyOf' ? 'AnyOf' : 'AllOf',
    roles,
    ...(type === 'Dial' || type === 'Bind' ? { type } : {}),
    ...(grants(termOf(record)) ? {} : { isDormant: true }),
  }
}

/** The term of a policy; open for a policy of a kind without terms. */
export function termOf({ startsAt, until, phase }: RecordOf<Resource>): TermInPhase {
  return {
    startsAt: typeof startsAt === 'number' ? startsAt : null,
    until: typeof until === 'number' ? until : null,
    phase: PHASES.find((name) => name === phase) ?? null,
  }
}

function textList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
