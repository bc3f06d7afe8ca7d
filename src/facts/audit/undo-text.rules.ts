import { counted, listed, quoted } from '../../base/text.ts'
import type { UndoLeft, UndoObstacle, UndoPlan } from './change-undo.rules.ts'

const OBSTACLES: Readonly<Record<UndoObstacle, string>> = {
  gone: 'there is none of it any more',
  'there-again': 'there is one with its id again',
  'changed-since': 'it was changed since, and that would be lost',
  'undone-already': 'it is as it was before',
  controller: 'the controller wrote it by itself',
  digest: 'the trail has digests alone of its secrets and of its long values',
  administrator: 'an administrator alone says that it is trusted',
  'not-offered': 'nobody makes, changes or deletes it by a request of that kind',
  refused: 'the controller would refuse it',
}

const LEFT: Readonly<Record<UndoLeft['why'], string>> = {
  'changed-since': 'was changed since, and stays as it is',
  controller: 'is written by the controller alone, and does not come back',
  digest: 'is a secret or very long: the trail has a digest of it alone',
  administrator: 'comes back by an administrator alone: PUT /portcullis/v1/trust-anchors/{id}',
  anew: 'is made anew',
}

/** Kinds that lose their credentials when deleted, so that only an enrollment restores them. */
const ENROLLED: readonly string[] = ['identities', 'edge-routers', 'transit-routers']
const MOST_PAIRS = 10

/** Renders a plan as lines of sentences: first the restored fields, then the remaining ones, then gained and lost access. */
export function undoText(plan: Omit<UndoPlan, 'text'>, isDone: boolean): string {
  const { action, entity, obstacle, refusal, fields, left, access, trust } = plan
  const what = `${entity.kind} ${quoted(entity.name ?? entity.id)}`
  const done = { create: 'created again', update: 'changed back', delete: 'deleted' } as const
  const first =
    action === null
      ? `Nothing is undone of ${what}: ${obstacle === null ? 'nothing is left to do' : OBSTACLES[obstacle]}.`
      : `${what} ${isDone ? 'was' : 'would be'} ${done[action]}.`
  const lines = [
    first,
    ...(refusal === null ? [] : [`  ${refusal}`]),
    ...fields.map(({ field, now, restored }) => `  ${field}: ${shown(now)} → ${shown(restored)}`),
    ...left.map(({ field, why }) => `  ${field} ${LEFT[why]}.`),
  ]
  if (action === 'create') lines.push(...credentialLines(plan))
  if (trust !== null) {
    lines.push(
      trust
        ? 'It is trusted to let in administrators and delegates.'
        : 'It is not trusted to let in administrators and delegates.',
    )
  }
  if (action === 'delete') lines.push('Everything goes with it that cannot be without it.')
  if (access === null || isDone) return lines.join('\n')
  const pairs = counted(access.gained + access.lost, 'access').replace(/accesss$/, 'accesses')
  const some = access.pairs.slice(0, MOST_PAIRS).map(({ identity, service, type, change }) => {
    return `${quoted(identity.name)} ${change === 'gained' ? 'gains' : 'loses'} ${type} of ${quoted(service.name)}`
  })
  const further = access.gained + access.lost - some.length
  const named = some.length === 0 ? '' : `: ${listed(further > 0 ? [...some, `${further} more`] : some)}`
  return [...lines, `${pairs} would change, posture aside${named}.`].join('\n')
}

function credentialLines({ entity, fields }: Pick<UndoPlan, 'entity' | 'fields'>): readonly string[] {
  if (!ENROLLED.includes(entity.kind)) return []
  if (fields.some(({ field }) => field === 'fingerprint')) return ['Its certificate lets it in again.']
  return ['Its credentials, enrollments and sessions were deleted with it and do not come back: it is enrolled anew.']
}

const LONGEST = 200

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
