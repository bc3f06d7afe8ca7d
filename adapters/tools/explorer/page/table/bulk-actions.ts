import type { Apis } from '../api/apis.ts'
import { changeBy, deleteOf, memberOf, readJson } from '../api/read-json.ts'
import type { AccessChange } from '../changes/consequences.tsx'
import { changedBy, differenceOf } from '../what-if/change.ts'
import type { Target } from './bulk.ts'

/** An action on many entities, each by a request of its own. */
export interface BulkAction {
  readonly label: string
  /** The word for an entity after it: `deleted`. */
  readonly done: string
  /** The property that a kind must have; absent for deletion, which the forms of the kind name. */
  readonly needs?: 'hasAttributes' | 'isDisabled'
  /** Whether it takes something away that is hard to get back. */
  readonly isHarm?: boolean
  /** The loss, in a sentence; by the kind. */
  readonly warning?: (kind: string) => string
  /** The change of role attributes, from the role attributes that the user names. */
  readonly attributes?: (named: readonly string[]) => AttributeChange
  readonly act: (apis: Apis, kind: string, target: Target, named: readonly string[]) => Promise<void>
}

type AttributeChange = Parameters<typeof differenceOf>[0]

export const ACTIONS: readonly BulkAction[] = [
  attributeAction('Add role attributes', (named) => ({ before: [], roleAttributes: named })),
  attributeAction('Take role attributes away', (named) => ({ before: named, roleAttributes: [] })),
  {
    label: 'Enable',
    done: 'enabled',
    needs: 'isDisabled',
    act: (apis, kind, { id }) => switchTo(apis, kind, id, false),
  },
  {
    label: 'Disable',
    done: 'disabled',
    needs: 'isDisabled',
    isHarm: true,
    warning: (kind) =>
      kind === 'identities'
        ? 'Sessions and connections end, and there is no login until somebody enables it again.'
        : 'Its connections end, with the circuits through it, until somebody enables it again.',
    act: (apis, kind, { id }) => switchTo(apis, kind, id, true),
  },
  {
    label: 'Delete',
    done: 'deleted',
    isHarm: true,
    warning: (kind) =>
      ['identities', 'edge-routers'].includes(kind)
        ? 'Deleted for good, with credentials and invitations: to come back, each has to enroll anew.'
        : 'Deleted for good.',
    act: (apis, kind, { id }) => deleteOf(apis, kind, id),
  },
]

function attributeAction(label: string, attributes: (named: readonly string[]) => AttributeChange): BulkAction {
  return {
    label,
    done: 'changed',
    needs: 'hasAttributes',
    attributes,
    act: (apis, kind, { id }, named) => changeAttributes(apis, kind, id, attributes(named)),
  }
}

/** The same as changes to be tried; undefined where no trial of them exists. */
export function triedBy(
  { attributes, needs }: BulkAction,
  kind: string,
  targets: readonly Target[],
  named: readonly string[],
): readonly AccessChange[] | undefined {
  if (needs === undefined) {
    if (kind !== 'identities' && kind !== 'services' && kind !== 'service-policies') return undefined
    return targets.map(({ id }) => ({ kind, action: 'delete', id }))
  }
  if (attributes === undefined || named.length === 0 || (kind !== 'identities' && kind !== 'services')) return undefined
  const difference = differenceOf(attributes(named))
  return targets.map(({ id, roleAttributes }) => {
    return { kind, action: 'update', id, body: { roleAttributes: changedBy(difference, roleAttributes) } }
  })
}

/** Changes the role attributes of an entity as they are now; writes nothing where it has them so. */
async function changeAttributes(apis: Apis, kind: string, id: string, by: AttributeChange) {
  const entity = await readJson(apis, kind, id)
  const held = memberOf(entity, 'roleAttributes')
  const now = Array.isArray(held) ? held.map(String) : []
  const roleAttributes = changedBy(differenceOf(by), now)
  if (roleAttributes.length === now.length && roleAttributes.every((one) => now.includes(one))) return
  // A posture check is changed by the members of its type, which it names.
  const typeId = kind === 'posture-checks' ? { typeId: memberOf(entity, 'typeId') } : {}
  await changeBy(apis, kind, id, { ...typeId, roleAttributes })
}

async function switchTo({ management, ...apis }: Apis, kind: string, id: string, isDisabled: boolean): Promise<void> {
  const params = { id }
  if (kind !== 'identities') await changeBy({ management, ...apis }, kind, id, { disabled: isDisabled })
  else if (isDisabled) await management.call('POST /identities/{id}/disable', { params, body: { durationMinutes: 0 } })
  else await management.call('POST /identities/{id}/enable', { params })
}
