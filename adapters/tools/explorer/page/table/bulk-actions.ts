import type { Apis } from '../api/apis.ts'
import { changeBy, deleteOf, memberOf, membersOf, readJson } from '../api/read-json.ts'
import type { AccessChange } from '../changes/consequences.tsx'
import type { Target } from './bulk.ts'

/** An action on many entities, each by a request of its own. */
export interface BulkAction {
  readonly label: string
  /** The word for an entity after it: `deleted`. */
  readonly done: string
  /** The member of entities that it changes; absent for deletion. */
  readonly member?: 'roleAttributes' | 'tags' | 'disabled'
  /** The value of the member afterwards, from the present value and what the user names. */
  readonly changed?: (held: unknown, named: readonly string[]) => unknown
  /** The labels of the texts that the user names. */
  readonly fields?: readonly string[]
  /** Whether it takes something away that is hard to get back. */
  readonly isHarm?: boolean
  /** The loss, in a sentence; by the kind. */
  readonly warning?: (kind: string) => string
}

const ATTRIBUTES = { done: 'changed', member: 'roleAttributes' } as const
const TAGS = { done: 'changed', member: 'tags' } as const

export const ACTIONS: readonly BulkAction[] = [
  {
    ...ATTRIBUTES,
    label: 'Add role attributes',
    changed: (held, named) => [...new Set([...textsOf(held), ...named])],
  },
  {
    ...ATTRIBUTES,
    label: 'Take role attributes away',
    changed: (held, named) => textsOf(held).filter((one) => !named.includes(one)),
  },
  {
    ...TAGS,
    label: 'Set a tag',
    fields: ['Tag', 'Value'],
    changed: (held, [name = '', value]) => ({ ...membersOf(held), [name.trim()]: value }),
  },
  {
    ...TAGS,
    label: 'Take a tag away',
    fields: ['Tag'],
    changed: (held, [name]) =>
      Object.fromEntries(Object.entries(membersOf(held)).filter(([key]) => key !== name?.trim())),
  },
  { label: 'Enable', done: 'enabled', member: 'disabled', changed: () => false },
  {
    label: 'Disable',
    done: 'disabled',
    member: 'disabled',
    changed: () => true,
    isHarm: true,
    warning: (kind) =>
      kind === 'identities'
        ? 'Sessions and connections end, and there is no login until somebody enables it again.'
        : 'Its connections end, with the circuits through it, until somebody enables it again.',
  },
  {
    label: 'Delete',
    done: 'deleted',
    isHarm: true,
    warning: (kind) =>
      ['identities', 'edge-routers'].includes(kind)
        ? 'Deleted for good, with credentials and invitations: to come back, each has to enroll anew.'
        : 'Deleted for good.',
  },
]

function textsOf(held: unknown): readonly string[] {
  return Array.isArray(held) ? held.map(String) : []
}

/** The same as changes to be tried; undefined where no trial of them exists. */
export function triedBy(
  { member, changed }: BulkAction,
  kind: string,
  targets: readonly Target[],
  named: readonly string[],
): readonly AccessChange[] | undefined {
  if (member === undefined) {
    if (kind !== 'identities' && kind !== 'services' && kind !== 'service-policies') return undefined
    return targets.map(({ id }) => ({ kind, action: 'delete', id }))
  }
  if (member !== 'roleAttributes' || named.length === 0 || (kind !== 'identities' && kind !== 'services'))
    return undefined
  return targets.map(({ id, roleAttributes }) => {
    return { kind, action: 'update', id, body: { roleAttributes: textsOf(changed?.(roleAttributes, named)) } }
  })
}

/** Does an action to an entity as it is now; writes nothing where the entity stays the same. */
export async function actOn(
  { member, changed }: BulkAction,
  apis: Apis,
  kind: string,
  id: string,
  named: readonly string[],
): Promise<void> {
  if (member === undefined) return deleteOf(apis, kind, id)
  const { call } = apis.management
  if (member === 'disabled' && kind === 'identities') {
    if (changed?.(undefined, named) === false) await call('POST /identities/{id}/enable', { params: { id } })
    else await call('POST /identities/{id}/disable', { params: { id }, body: { durationMinutes: 0 } })
    return
  }
  const entity = await readJson(apis, kind, id)
  const held = memberOf(entity, member)
  const value = changed?.(held, named)
  if (JSON.stringify(value) === JSON.stringify(held)) return
  // A posture check is changed by the members of its type, which it names.
  const typeId = kind === 'posture-checks' ? { typeId: memberOf(entity, 'typeId') } : {}
  await changeBy(apis, kind, id, { ...typeId, [member]: value })
}
