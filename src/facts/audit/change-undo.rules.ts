import { canonicalJson } from '../../base/text.ts'

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
  /** An administrator alone gives trust back. */
  | 'administrator'
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
  readonly why: 'changed-since' | 'controller' | 'digest' | 'administrator' | 'anew'
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
  /**
   * Whether the certificate authority or external JWT signer would be trusted to let in identities that have rights; null for
   * other entities, and where it is not changed.
   */
  readonly trust: boolean | null
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
type Changes = Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>

/** A record of the audit trail that tells of a change of an entity. */
export interface UndoneRecord {
  readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
  readonly changes: Changes
  /** The later changes of the entity, in order. */
  readonly later: readonly Changes[]
}

/** How a field that the engine writes comes back; the declaration of its resource says so. */
type SystemField = 'decided' | 'computed' | 'anew' | 'bound' | 'fact'

/** The fields of a kind of entity, by who writes them. */
export interface UndoneKind {
  /** Fields that a request may change. */
  readonly writable: readonly string[]
  /** Fields that a request sets at creation alone. */
  readonly createOnly: readonly string[]
  /** Fields that the engine writes. */
  readonly system: ReadonlyMap<string, SystemField>
  /** Fields that hold sets, whose entries are given and taken one by one. */
  readonly sets: ReadonlySet<string>
  /** The value of each field that nobody has written. */
  readonly defaults: Fields
  /** How it is decided whether an entity of this kind may let in identities that have rights. */
  readonly trust?: {
    readonly field: string
    /** The field that names the delegate who decided last. */
    readonly decidedBy?: string
    /** The fields by which trust is judged. */
    readonly decisive: readonly string[]
  }
}

/** The way to take a change back. */
export interface Undoing {
  readonly action: UndoPlan['action']
  readonly obstacle: UndoObstacle | null
  readonly fields: readonly UndoneField[]
  readonly left: readonly UndoLeft[]
  /** The values of fields that no request sets. */
  readonly system: Fields
  readonly trust: boolean | null
}

/**
 * Finds how a change is taken back in an entity as it is now; undefined for one that is not there. What was changed after it
 * stays: entries of sets are given and taken on top of those of now, and any other field that is not as the change left it is
 * left alone. An entity that was changed after its creation is not deleted. Trust comes back as it was with the values that
 * come back, and only where the caller `mayTrust`.
 */
export function undoing(record: UndoneRecord, kind: UndoneKind, now: Fields | undefined, mayTrust: boolean): Undoing {
  if (record.type === 'entity.deleted') return creation(record, kind, now, mayTrust)
  if (now === undefined) return nothing('gone')
  return record.type === 'entity.created' ? deletion(record, kind, now) : update(record, kind, now, mayTrust)
}

function nothing(obstacle: UndoObstacle, left: readonly UndoLeft[] = []): Undoing {
  return { action: null, obstacle, fields: [], left, system: {}, trust: null }
}

function update(record: UndoneRecord, kind: UndoneKind, now: Fields, mayTrust: boolean): Undoing {
  const { writable, system: systemFields, sets, defaults, trust } = kind
  const fields: UndoneField[] = []
  const left: UndoLeft[] = []
  for (const [field, change] of Object.entries(record.changes)) {
    if (field === trust?.field || field === trust?.decidedBy || systemFields.get(field) === 'computed') continue
    const { before = fieldOf(defaults, field), after = fieldOf(defaults, field) } = change
    const is = fieldOf(now, field)
    if (!writable.includes(field) && systemFields.get(field) !== 'decided') left.push({ field, why: 'controller' })
    else if (isDigest(before) || isDigest(after)) left.push({ field, why: 'digest' })
    else if (sets.has(field)) {
      const restored = withoutChange(textsOf(is), textsOf(before), textsOf(after))
      if (!isSame(restored, textsOf(is))) fields.push({ field, now: is, restored })
    } else if (isSame(is, after)) fields.push({ field, now: is, restored: before })
    else if (!isSame(is, before)) left.push({ field, why: 'changed-since' })
  }
  const trusting = trustAfter(record, kind, now, mayTrust, fields)
  fields.push(...trusting.fields)
  left.push(...trusting.left)
  if (fields.length > 0) {
    const decided = fields.filter(({ field }) => systemFields.has(field)).map((one) => [one.field, one.restored])
    const system = { ...Object.fromEntries(decided), ...trusting.system }
    return { action: 'update', obstacle: null, fields, left, system, trust: trusting.trust }
  }
  const first = left.find(({ why }) => why === 'changed-since') ?? left[0]
  return nothing(first === undefined || first.why === 'anew' ? 'undone-already' : first.why, left)
}

type Trusting = Pick<Undoing, 'fields' | 'left' | 'system' | 'trust'>
const NOT_CONCERNED: Trusting = { fields: [], left: [], system: {}, trust: null }

/**
 * Decides what is trusted once a change is taken back: what was trusted with the very values that come back. Where some of
 * them are of another time, they were trusted then and are trusted now.
 */
function trustAfter(
  record: UndoneRecord,
  { trust, defaults }: UndoneKind,
  now: Fields,
  mayTrust: boolean,
  restored: readonly UndoneField[],
): Trusting {
  if (trust === undefined) return NOT_CONCERNED
  const { field, decidedBy, decisive } = trust
  const isDecisive = restored.some((one) => decisive.includes(one.field))
  const isOfTrustAlone = field in record.changes && !decisive.some((one) => one in record.changes)
  if (!isDecisive && !isOfTrustAlone) return NOT_CONCERNED
  const was = (one: string, side: 'before' | 'after'): unknown => {
    const own = record.changes[one]
    if (own !== undefined) return own[side] ?? fieldOf(defaults, one)
    const next = record.later.find((changes) => one in changes)?.[one]
    return next === undefined ? fieldOf(now, one) : (next.before ?? fieldOf(defaults, one))
  }
  const isWhole = decisive.every((one) => isSame(was(one, 'after'), fieldOf(now, one)))
  const is = fieldOf(now, field) === true
  const isEarned = was(field, 'before') === true && (isWhole || is)
  if (isOfTrustAlone && isEarned === is) return NOT_CONCERNED
  if (isOfTrustAlone && !mayTrust) return { ...NOT_CONCERNED, left: [{ field, why: 'administrator' }] }
  const isTrusted = isEarned && mayTrust
  const decider = decidedBy === undefined ? undefined : was(decidedBy, 'before')
  const isDeciderKnown = decidedBy !== undefined && isWhole && isTrusted === isEarned && !isDigest(decider)
  return {
    fields: isTrusted === is ? [] : [{ field, now: is, restored: isTrusted }],
    left: isEarned && !isTrusted ? [{ field, why: 'administrator' }] : [],
    system: { [field]: isTrusted, ...(isDeciderKnown && { [decidedBy]: decider }) },
    trust: isTrusted,
  }
}

/** A set as it is now, without what a change added and with what it took. */
function withoutChange(now: readonly string[], before: readonly string[], after: readonly string[]): readonly string[] {
  const stays = now.filter((one) => before.includes(one) || !after.includes(one))
  const comes = before.filter((one) => !after.includes(one) && !now.includes(one))
  return [...stays, ...comes].sort((a, b) => (a < b ? -1 : 1))
}

function deletion({ changes }: UndoneRecord, { writable, system, defaults }: UndoneKind, now: Fields): Undoing {
  const decided = [...system].flatMap(([field, how]) => (how === 'decided' ? [field] : []))
  const left = [...writable, ...decided].flatMap((field): UndoLeft[] => {
    const { after = fieldOf(defaults, field) } = changes[field] ?? {}
    return isDigest(after) || isSame(fieldOf(now, field), after) ? [] : [{ field, why: 'changed-since' }]
  })
  if (left.length > 0) return nothing('changed-since', left)
  return { action: 'delete', obstacle: null, fields: [], left, system: {}, trust: null }
}

function creation({ changes }: UndoneRecord, kind: UndoneKind, now: Fields | undefined, mayTrust: boolean): Undoing {
  if (now !== undefined) return nothing('there-again')
  const settable = [...kind.writable, ...kind.createOnly]
  const fields: UndoneField[] = []
  const left: UndoLeft[] = []
  const written: UndoneField[] = []
  for (const [field, { before = fieldOf(kind.defaults, field) }] of Object.entries(changes)) {
    const how = kind.system.get(field)
    if (how === 'bound' && !isSame(before, fieldOf(kind.defaults, field))) return nothing('controller')
    if (how === 'computed' || field === kind.trust?.field || field === kind.trust?.decidedBy) continue
    if (how === 'anew') left.push({ field, why: 'anew' })
    else if (isDigest(before)) left.push({ field, why: 'digest' })
    else if (settable.includes(field)) fields.push({ field, now: null, restored: before })
    else written.push({ field, now: null, restored: before })
  }
  // Without a part that people set it would be another entity.
  if (left.some(({ field, why }) => why === 'digest' && settable.includes(field))) return nothing('digest', left)
  // Facts of the controller's own belong together: a certificate is nothing without its authority.
  const isKnown = left.every(({ why }) => why !== 'digest')
  if (isKnown) fields.push(...written)
  else left.push(...written.map(({ field }): UndoLeft => ({ field, why: 'controller' })))
  const facts = Object.fromEntries(isKnown ? written.map(({ field, restored }) => [field, restored]) : [])
  const trusting = kind.trust === undefined ? NOT_CONCERNED : trustAgain(changes, kind.trust, mayTrust)
  return {
    action: 'create',
    obstacle: null,
    fields: [...fields, ...trusting.fields],
    left: [...left, ...trusting.left],
    system: { ...facts, ...trusting.system },
    trust: trusting.trust,
  }
}

/** Decides whether an entity is trusted that is created again: where it was. */
function trustAgain(
  changes: Changes,
  { field, decidedBy }: NonNullable<UndoneKind['trust']>,
  mayTrust: boolean,
): Trusting {
  const was = changes[field]?.before === true
  const isTrusted = was && mayTrust
  const decider = decidedBy === undefined ? undefined : (changes[decidedBy]?.before ?? null)
  const isDeciderKnown = decidedBy !== undefined && isTrusted === was && !isDigest(decider)
  return {
    fields: [{ field, now: null, restored: isTrusted }],
    left: was && !isTrusted ? [{ field, why: 'administrator' }] : [],
    system: { [field]: isTrusted, ...(isDeciderKnown && { [decidedBy]: decider }) },
    trust: isTrusted,
  }
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
