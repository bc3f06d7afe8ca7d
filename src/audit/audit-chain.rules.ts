import { canonicalJson } from '../base/text.ts'

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

/** The era in which a store at `revision` goes on after the record `last`: a new one where that has a revision yet to come. */
export function nextEra(last: string, revision: number): number {
  const era = Number(last.slice(0, ERA_DIGITS))
  return Number(last.slice(ERA_DIGITS, ERA_DIGITS + REVISION_DIGITS)) > revision ? era + 1 : era
}

/** The id of a seal, by its number. */
export function sealId(number: number): string {
  return String(number).padStart(REVISION_DIGITS, '0')
}

/** The text whose digest stands for a record. */
export function recordText({ id, createdAt, type, kind, entityId, actorId, reader, content }: ChainedRecord): string {
  return canonicalJson([id, createdAt, type, kind, entityId, actorId, reader, content])
}

/** The text whose hash stands for a seal, and for every one before it. */
export function sealText({ number, createdAt, records, firstKept, removed, previous }: ChainedSeal): string {
  return canonicalJson([number, createdAt, records, firstKept, removed, previous])
}
