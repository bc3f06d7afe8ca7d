import type { FieldKind } from '../filter/index.ts'

/** The minimum of every stored record. Records are immutable: a change stores a new record under the same id. */
export interface StoredRecord {
  readonly id: string
}

/** The description of a kind of record for a storage; every resource declaration is such a description. */
export interface RecordKind<T extends StoredRecord = StoredRecord> {
  /** The plural name on the wire, for example `service-policies`. */
  readonly name: string
  /** Every stored field except `id`, with its storage and comparison. */
  readonly fields: Readonly<Record<string, FieldKind>>
  /** Fields with unique values; absent and null values do not count. */
  readonly unique: readonly string[]
  /** Fields that queries often compare by equality. */
  readonly indexed: readonly string[]
  /** The JSON fields whose members filters may name; all of them when absent. */
  readonly searchedJson?: readonly string[]
  /** JSON fields without a search index, although filters may name their members; a former index may be dropped. */
  readonly unsearchedJson?: readonly string[]
  /** The type of JSON fields that always hold a list or always an object; a value of the other type is damage. */
  readonly jsonTypes?: Readonly<Record<string, 'list' | 'object'>>
  /** Fields that are never null: a record with null in such a field is damaged. */
  readonly required?: readonly string[]
  /** The values of fields that are missing in older records; null for other fields. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** Fields of older versions: their stored values stay, but no record shows them. */
  readonly retired?: Readonly<Record<string, FieldKind>>
  /**
   * True for records that are added, rarely read and never changed. A storage may delay them to the end of the write that adds them, and
   * may leave them out of the change feed; readers in that write must still find them. The way their ids are made guarantees uniqueness.
   * Queries compare whole values: `contains` need not find them.
   */
  readonly isJournal?: boolean
  /** Carries the record's type; never present at run time. */
  readonly recordType?: T
}
