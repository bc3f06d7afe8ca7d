import { jsonBytes } from '../base/bytes.ts'
import { canonicalJson } from '../base/text.ts'

/** The facts of a kind of record by which its changes are told. */
export interface AuditedFields {
  /** The value of each field that nobody has written: it is not told. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Fields that hold a secret: of their values only digests are told. */
  readonly secrets: ReadonlySet<string>
}

/** A side of a change that is not there, for it held the default of the field. */
type Sides = { readonly before?: unknown; readonly after?: unknown }

/** Bytes of a value that is told whole; of a longer one the digest and the length are. */
const MOST_BYTES = 16 * 1024
/** Digits of a digest that is told: enough to see that two values are the same, and of no use to find one. */
const DIGEST_DIGITS = 32
/** Instants of every record that the record of a change tells itself. */
const TOLD_OTHERWISE: readonly string[] = ['id', 'createdAt', 'updatedAt']

/**
 * Lists the fields in which a record differs from what it was before, each with both values. A record that is new, or gone,
 * is compared with one that nobody has written to. Secrets and long values stand as `sha256:` digests.
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
      ...(before !== undefined && !isSame(was, otherwise) && { before: told(was) }),
      ...(after !== undefined && !isSame(is, otherwise) && { after: told(is) }),
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
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return false
  return canonicalJson(one) === canonicalJson(other)
}

function toldValue(value: unknown, isSecret: boolean, sha256: (text: string) => string): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value
  const isLong = typeof value === 'string' && value.length * 3 <= MOST_BYTES ? false : jsonBytes(value) > MOST_BYTES
  if (!isSecret && !isLong) return value
  const digest = `sha256:${sha256(canonicalJson(value)).slice(0, DIGEST_DIGITS)}`
  return isSecret ? digest : `${digest} of ${jsonBytes(value)} bytes`
}
