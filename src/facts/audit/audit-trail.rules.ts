import { jsonBytes } from '../../base/bytes.ts'
import { DIGEST_DIGITS } from '../../base/members.ts'
import { canonicalJson } from '../../base/text.ts'
import { HOUR_MS } from '../../base/time.ts'

/** The parts of a record that its digest covers: all of them. */
export interface ChainedRecord {
  readonly id: string
  readonly createdAt: number
  readonly type: string
  readonly kind: string | null
  readonly entityId: string | null
  readonly actorId: string | null
  readonly reader: string | null
  readonly content: unknown
}

/** The parts of a seal that its hash covers. */
export interface ChainedSeal {
  readonly number: number
  readonly createdAt: number
  readonly records: readonly { readonly id: string; readonly digest: string }[]
  readonly firstKept: number
  readonly removed: number
  readonly previous: string
}

/** The hash before the first seal. */
export const NO_HASH = '0'.repeat(64)

const ERA_DIGITS = 4
const REVISION_DIGITS = 14
const PLACE_DIGITS = 6

/** The id of a record by the revision of its commit, and its place there: ids sort as text in the order of commits. */
export function recordId(era: number, revision: number, place: number): string {
  return (
    String(era).padStart(ERA_DIGITS, '0') +
    String(revision).padStart(REVISION_DIGITS, '0') +
    String(place).padStart(PLACE_DIGITS, '0')
  )
}

/** The part of the id of a record that all records of its commit share. */
export function commitOf(id: string): string {
  return id.slice(0, -PLACE_DIGITS)
}

/** The era in which a store at `revision` continues after the record `last`: a new era if that record has a later revision. */
export function nextEra(last: string, revision: number): number {
  const era = Number(last.slice(0, ERA_DIGITS))
  return Number(last.slice(ERA_DIGITS, ERA_DIGITS + REVISION_DIGITS)) > revision ? era + 1 : era
}

/** The last id that sorts before the id of a record; undefined for an invalid `id`. */
export function idBefore(id: string): string | undefined {
  return /^\d*[1-9]\d*$/.test(id) ? String(BigInt(id) - 1n).padStart(id.length, '0') : undefined
}

/** The id of a seal, by its number. */
export function sealId(number: number): string {
  return String(number).padStart(REVISION_DIGITS, '0')
}

/** The text whose digest stands for a record. */
export function recordText({ id, createdAt, type, kind, entityId, actorId, reader, content }: ChainedRecord): string {
  return canonicalJson([id, createdAt, type, kind, entityId, actorId, reader, content])
}

/** The text whose hash stands for a seal, and for every earlier seal. */
export function sealText({ number, createdAt, records, firstKept, removed, previous }: ChainedSeal): string {
  return canonicalJson([number, createdAt, records, firstKept, removed, previous])
}

/** The bytes that a party may still cause, and the number of records left out since the last report. */
export interface Budget {
  readonly bytes: number
  /** The instant of `bytes`, epoch ms. */
  readonly at: number
  readonly leftOut: number
  /** The instant of the first record left out, epoch ms; 0 while none was. */
  readonly since: number
}

/** The bytes that a party may cause. */
export interface Allowance {
  readonly bytesPerHour: number
  /** Bytes at once, after an hour or longer without any. */
  readonly atOnce: number
}

/** Bytes that every party may cause at once: some records. */
const LEAST_AT_ONCE = 2048

/** The allowance of one of `parties` that share `sharedBytesPerHour`: an equal share, and at most `bytesPerHour`. */
export function shareOf(bytesPerHour: number, sharedBytesPerHour: number, parties: number): Allowance {
  const share = Math.min(bytesPerHour, sharedBytesPerHour / Math.max(1, parties))
  return { bytesPerHour: share, atOnce: Math.min(bytesPerHour, Math.max(share, LEAST_AT_ONCE)) }
}

/** The budget of a party that has caused no bytes yet. */
export function fullBudget({ atOnce }: Allowance, now: number): Budget {
  return { bytes: atOnce, at: now, leftOut: 0, since: 0 }
}

/** Takes `bytes` from a budget at `now` (epoch ms). If they are not available, nothing is taken, and a record is counted as left out. */
export function spend(
  budget: Budget,
  { bytesPerHour, atOnce }: Allowance,
  bytes: number,
  now: number,
): { readonly isAllowed: boolean; readonly budget: Budget } {
  const regained = (Math.max(0, now - budget.at) / HOUR_MS) * bytesPerHour
  const available = Math.min(atOnce, budget.bytes + regained)
  const isAllowed = bytes <= available
  return {
    isAllowed,
    budget: isAllowed
      ? { bytes: available - bytes, at: now, leftOut: 0, since: 0 }
      : { bytes: available, at: now, leftOut: budget.leftOut + 1, since: budget.since || now },
  }
}

/** The facts of a kind of record that its audit records depend on. */
export interface AuditedFields {
  /** The default of each field, which is left out. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Fields with secrets, which are recorded as digests only. */
  readonly secrets: ReadonlySet<string>
}

/** The sides of a change; a side with the default of the field is absent. */
type Sides = { readonly before?: unknown; readonly after?: unknown }

/** Bytes of a value that is recorded whole; a longer value is recorded by its digest and length. */
const MOST_BYTES = 16 * 1024
/** Fields of every record that the audit record holds anyway. */
const TOLD_OTHERWISE: readonly string[] = ['id', 'createdAt', 'updatedAt']

/**
 * Lists the changed fields of a record, each with both values. A new or deleted record is compared with the defaults of its fields. Secrets
 * and long values appear as `sha256:` digests.
 */
export function fieldChanges(
  { defaults, secrets }: AuditedFields,
  before: object | undefined,
  after: object | undefined,
  sha256: (text: string) => string,
): Readonly<Record<string, Sides>> {
  const changes: Record<string, Sides> = {}
  for (const field of Object.keys(after ?? before ?? {})) {
    if (TOLD_OTHERWISE.includes(field)) continue
    const otherwise = field === 'tags' ? {} : (defaults[field] ?? null)
    const was = sideOf(before, field, otherwise)
    const is = sideOf(after, field, otherwise)
    if (isSame(was, is)) continue
    const told = (value: unknown) => toldValue(value, secrets.has(field), sha256)
    changes[field] = {
      // An absent side is the default, which then differs from the other side.
      ...(before !== undefined && (after === undefined || !isSame(was, otherwise)) && { before: told(was) }),
      ...(after !== undefined && (before === undefined || !isSame(is, otherwise)) && { after: told(is) }),
    }
  }
  return changes
}

function sideOf(record: object | undefined, field: string, otherwise: unknown): unknown {
  return record === undefined ? otherwise : (Reflect.get(record, field) ?? null)
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return false
    if (one.length === 0) return true
  }
  return canonicalJson(one) === canonicalJson(other)
}

function toldValue(value: unknown, isSecret: boolean, sha256: (text: string) => string): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value
  const isLong = typeof value === 'string' && value.length * 3 <= MOST_BYTES ? false : jsonBytes(value) > MOST_BYTES
  if (!isSecret && !isLong) return value
  const digest = `sha256:${sha256(canonicalJson(value)).slice(0, DIGEST_DIGITS)}`
  return isSecret ? digest : `${digest} of ${jsonBytes(value)} bytes`
}
