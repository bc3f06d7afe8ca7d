import { canonicalJson, counted, listed, quoted } from '../../base/text.ts'

/** Why a change, or a field of it, is not taken back. */
export type UndoObstacle =
  /** The entity is not there any more. */
  | 'gone'
  /** The entity that was deleted is there again. */
  | 'there-again'
  /** Something was changed later that would be lost. */
  | 'changed-since'
  /** Everything is as it was before. */
  | 'undone-already'
  /** No request sets what was changed. */
  | 'controller'
  /** Secrets and long values are in the trail as digests. */
  | 'digest'
  /** The API has no operation by which it could be done. */
  | 'not-offered'
  /** The controller would refuse the request, for a reason that `refusal` says. */
  | 'refused'

/** A field that is set back. */
export interface UndoneField {
  readonly field: string
  readonly now: unknown
  readonly restored: unknown
}

/** A field of the change that stays as it is. */
export interface UndoLeft {
  readonly field: string
  readonly why: 'changed-since' | 'controller' | 'digest'
}

/** The way in which a change would be taken back, in the network as it is now. */
export interface UndoPlan {
  /** The id of the audit record. */
  readonly record: string
  /** `create`: the entity that was deleted, under its id; null where nothing is done, for the reason of `obstacle`. */
  readonly action: 'create' | 'update' | 'delete' | null
  readonly entity: { readonly kind: string; readonly id: string; readonly name: string | null }
  readonly obstacle: UndoObstacle | null
  /** The reason for which the controller would refuse it; null where it would not. */
  readonly refusal: string | null
  readonly fields: readonly UndoneField[]
  /** Fields that are not set back. */
  readonly left: readonly UndoLeft[]
  /** Who would gain and lose access, posture aside: null where the change decides none, or the caller may not read all of it. */
  readonly access: {
    readonly gained: number
    readonly lost: number
    /** The first of them. */
    readonly pairs: readonly {
      readonly identity: { readonly id: string; readonly name: string }
      readonly service: { readonly id: string; readonly name: string }
      readonly type: 'Dial' | 'Bind'
      readonly change: 'gained' | 'lost'
    }[]
  } | null
  /** Stands for the plan and the entity as it was when it was made. */
  readonly tag: string
  /** The plan for people, over several lines. */
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>

/** A record of the audit trail that tells of a change of an entity. */
export interface UndoneRecord {
  readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
  readonly changes: Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>
}

/** The fields of a kind of entity, by who writes them. */
export interface UndoneKind {
  /** Fields that a request may change. */
  readonly writable: readonly string[]
  /** Fields that a request sets at creation alone. */
  readonly createOnly: readonly string[]
  /** Fields that hold sets, whose entries are given and taken one by one. */
  readonly sets: ReadonlySet<string>
  /** The value of each field that nobody has written. */
  readonly defaults: Fields
}

/** The way to take a change back, whatever the rights of the caller. */
export interface Undoing {
  readonly action: UndoPlan['action']
  readonly obstacle: UndoObstacle | null
  readonly fields: readonly UndoneField[]
  readonly left: readonly UndoLeft[]
}

/**
 * Finds how a change is taken back in an entity as it is now; undefined for one that is not there. What was changed after it
 * stays: entries of sets are given and taken on top of those of now, and any other field that is not as the change left it is
 * left alone. An entity that was changed after its creation is not deleted.
 */
export function undoing(record: UndoneRecord, kind: UndoneKind, now: Fields | undefined): Undoing {
  if (record.type === 'entity.deleted') return creation(record, kind, now)
  if (now === undefined) return nothing('gone')
  return record.type === 'entity.created' ? deletion(record, kind, now) : update(record, kind, now)
}

function nothing(obstacle: UndoObstacle, left: readonly UndoLeft[] = []): Undoing {
  return { action: null, obstacle, fields: [], left }
}

function update({ changes }: UndoneRecord, { writable, sets, defaults }: UndoneKind, now: Fields): Undoing {
  const fields: UndoneField[] = []
  const left: UndoLeft[] = []
  for (const [field, change] of Object.entries(changes)) {
    const { before = fieldOf(defaults, field), after = fieldOf(defaults, field) } = change
    const is = fieldOf(now, field)
    if (!writable.includes(field)) left.push({ field, why: 'controller' })
    else if (isDigest(before) || isDigest(after)) left.push({ field, why: 'digest' })
    else if (sets.has(field)) {
      const restored = withoutChange(textsOf(is), textsOf(before), textsOf(after))
      if (!isSame(restored, textsOf(is))) fields.push({ field, now: is, restored })
    } else if (isSame(is, after)) fields.push({ field, now: is, restored: before })
    else if (!isSame(is, before)) left.push({ field, why: 'changed-since' })
  }
  if (fields.length > 0) return { action: 'update', obstacle: null, fields, left }
  const first = left.find(({ why }) => why === 'changed-since') ?? left[0]
  return nothing(first?.why ?? 'undone-already', left)
}

/** A set as it is now, without what a change added and with what it took. */
function withoutChange(now: readonly string[], before: readonly string[], after: readonly string[]): readonly string[] {
  const stays = now.filter((one) => before.includes(one) || !after.includes(one))
  const comes = before.filter((one) => !after.includes(one) && !now.includes(one))
  return [...stays, ...comes].sort((a, b) => (a < b ? -1 : 1))
}

function deletion({ changes }: UndoneRecord, { writable, defaults }: UndoneKind, now: Fields): Undoing {
  const left = writable.flatMap((field): UndoLeft[] => {
    const { after = fieldOf(defaults, field) } = changes[field] ?? {}
    return isDigest(after) || isSame(fieldOf(now, field), after) ? [] : [{ field, why: 'changed-since' }]
  })
  return left.length > 0 ? nothing('changed-since', left) : { action: 'delete', obstacle: null, fields: [], left }
}

function creation({ changes }: UndoneRecord, kind: UndoneKind, now: Fields | undefined): Undoing {
  if (now !== undefined) return nothing('there-again')
  const settable = [...kind.writable, ...kind.createOnly]
  const fields: UndoneField[] = []
  const left: UndoLeft[] = []
  for (const [field, { before = fieldOf(kind.defaults, field) }] of Object.entries(changes)) {
    if (!settable.includes(field)) left.push({ field, why: 'controller' })
    else if (isDigest(before)) left.push({ field, why: 'digest' })
    else fields.push({ field, now: null, restored: before })
  }
  // Without a part that people set it would be another entity.
  if (left.some(({ why }) => why === 'digest')) return nothing('digest', left)
  return { action: 'create', obstacle: null, fields, left }
}

function fieldOf(fields: Fields, field: string): unknown {
  return fields[field] ?? (field === 'tags' ? {} : null)
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

/** Of secrets and of long values a record tells digests alone. */
function isDigest(value: unknown): boolean {
  return typeof value === 'string' && /^sha256:[0-9a-f]{32}(?: of \d+ bytes)?$/.test(value)
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

const OBSTACLES: Readonly<Record<UndoObstacle, string>> = {
  gone: 'there is none of it any more',
  'there-again': 'there is one with its id again',
  'changed-since': 'it was changed since, and that would be lost',
  'undone-already': 'it is as it was before',
  controller: 'the controller wrote it by itself',
  digest: 'the trail has digests alone of its secrets and of its long values',
  'not-offered': 'nobody makes, changes or deletes it by a request of that kind',
  refused: 'the controller would refuse it',
}

const LEFT: Readonly<Record<UndoLeft['why'], string>> = {
  'changed-since': 'was changed since, and stays as it is',
  controller: 'is written by the controller alone, and does not come back',
  digest: 'is a secret or very long: the trail has a digest of it alone',
}

/** Kinds whose credentials go with them, so that nothing but an enrollment brings them back. */
const ENROLLED: readonly string[] = ['identities', 'edge-routers', 'transit-routers']
const MOST_PAIRS = 10

/** Renders a plan as lines of sentences: first what is done, then what is not, and who gains or loses access. */
export function undoText(plan: Omit<UndoPlan, 'text'>, isDone: boolean): string {
  const { action, entity, obstacle, refusal, fields, left, access } = plan
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
  if (action === 'create' && ENROLLED.includes(entity.kind))
    lines.push(
      'Its credentials, enrollments and sessions were deleted with it and do not come back: it is enrolled anew.',
    )
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

const LONGEST = 200

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
