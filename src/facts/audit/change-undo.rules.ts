import { isDigest, textsIn } from '../../base/members.ts'
import { canonicalJson } from '../../base/text.ts'

/** The reason why a change, or a field of it, is not undone. */
export type UndoObstacle =
  /** The entity no longer exists. */
  | 'gone'
  /** The deleted entity exists again. */
  | 'there-again'
  /** A later change would be lost. */
  | 'changed-since'
  /** Everything is already as before the change. */
  | 'undone-already'
  /** No request can set the changed fields. */
  | 'controller'
  /** Secrets and long values are in the trail as digests. */
  | 'digest'
  /** Only an administrator may restore trust. */
  | 'administrator'
  /** The API has no operation for it. */
  | 'not-offered'
  /** The controller would refuse the request, for a reason that `refusal` says. */
  | 'refused'

/** A restored field. */
export interface UndoneField {
  readonly field: string
  readonly now: unknown
  readonly restored: unknown
}

/** A field of the change that is not restored. */
export interface UndoLeft {
  readonly field: string
  readonly why: 'changed-since' | 'controller' | 'digest' | 'administrator' | 'anew'
}

/** The plan to undo a change in the current network. */
export interface UndoPlan {
  /** The id of the audit record. */
  readonly record: string
  /** `create`: makes the deleted entity under its id; null when nothing is done, because of `obstacle`. */
  readonly action: 'create' | 'update' | 'delete' | null
  readonly entity: { readonly kind: string; readonly id: string; readonly name: string | null }
  readonly obstacle: UndoObstacle | null
  /** The reason for which the controller would refuse the undo; null if it would not. */
  readonly refusal: string | null
  readonly fields: readonly UndoneField[]
  /** Fields that are not restored. */
  readonly left: readonly UndoLeft[]
  /**
   * True when the certificate authority or external JWT signer would be trusted to let in identities with rights; null for other entities,
   * and without a change of trust.
   */
  readonly trust: boolean | null
  /**
   * The access that would be gained and lost, posture aside; null for a change without effect on access, and for a caller who may not read
   * all of it.
   */
  readonly access: {
    readonly gained: number
    readonly lost: number
    /** The first pairs. */
    readonly pairs: readonly {
      readonly identity: { readonly id: string; readonly name: string }
      readonly service: { readonly id: string; readonly name: string }
      readonly type: 'Dial' | 'Bind'
      readonly change: 'gained' | 'lost'
    }[]
  } | null
  /** A tag of the plan and of the entity's state at its making. */
  readonly tag: string
  /** The plan for people, over several lines. */
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>
type Changes = Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>

/** An audit record of a change of an entity. */
export interface UndoneRecord {
  readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
  readonly changes: Changes
  /** The later changes of the entity, in order. */
  readonly later: readonly Changes[]
}

/** The effect of undo on a field that the engine writes, from the declaration of its resource. */
type SystemField = 'decided' | 'computed' | 'anew' | 'bound' | 'fact'

/** The fields of a kind of entity, by their writers. */
export interface UndoneKind {
  /** Fields that a request may change. */
  readonly writable: readonly string[]
  /** Fields that a request can set only at creation. */
  readonly createOnly: readonly string[]
  /** Fields that the engine writes. */
  readonly system: ReadonlyMap<string, SystemField>
  /** Fields that hold sets, whose entries are added and removed one by one. */
  readonly sets: ReadonlySet<string>
  /** The default of each field. */
  readonly defaults: Fields
  /** The fields that decide whether an entity of this kind may let in identities with rights. */
  readonly trust?: {
    readonly field: string
    /** The field that names the delegate who decided last. */
    readonly decidedBy?: string
    /** The fields by which trust is judged. */
    readonly decisive: readonly string[]
  }
}

/** The steps to undo a change. */
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
 * Finds the steps to undo a change in the current state of an entity (`now`: undefined for a missing entity). Later changes stay: entries
 * of sets are added to and removed from the current sets, and other fields that differ from the result of the change are left alone. An
 * entity that was changed after its creation is not deleted. Trust is restored together with its values, and only if the caller `mayTrust`.
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
      const restored = withoutChange(textsIn(is), textsIn(before), textsIn(after))
      if (!isSame(restored, textsIn(is))) fields.push({ field, now: is, restored })
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
 * Decides about trust after an undo: values are trusted if exactly they were trusted before. Values of different times must have been
 * trusted then and be trusted now.
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

/** The current set, without the entries that a change added and with the entries that it removed. */
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
  // Without a field that a caller had set, it would be another entity.
  if (left.some(({ field, why }) => why === 'digest' && settable.includes(field))) return nothing('digest', left)
  // The controller's own facts belong together: a certificate is useless without its authority.
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

/** Decides whether a restored entity is trusted: only if it was before. */
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
