import type { FieldKind } from '../filter/index.ts'

/** The least that every stored record has. Records are immutable: a change inserts a new one under the same id. */
export interface StoredRecord {
  readonly id: string
}

/** The description of a kind of record that a storage needs; every resource declaration is one. */
export interface RecordKind<T extends StoredRecord = StoredRecord> {
  /** The plural name on the wire, for example `service-policies`. */
  readonly name: string
  /** Every stored field besides `id`, with how it is stored and compared. */
  readonly fields: Readonly<Record<string, FieldKind>>
  /** Fields whose value no two records share; absent and null values do not count. */
  readonly unique: readonly string[]
  /** Fields that are often asked for by equality. */
  readonly indexed: readonly string[]
  /** The JSON fields whose members filters may name; all of them when absent. */
  readonly searchedJson?: readonly string[]
  /** JSON fields that are not searched, though their members may be asked for: what was kept for searches once may go. */
  readonly unsearchedJson?: readonly string[]
  /** The type of JSON fields that always hold the same one; a value of the other type is damage. */
  readonly jsonTypes?: Readonly<Record<string, 'list' | 'object'>>
  /** Fields that always hold something: a record in which one is null is damaged. */
  readonly required?: readonly string[]
  /** The values of fields in records that were stored before these were declared; null where none is given. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** Fields that records had once: what is stored of them stays, and no record shows it. */
  readonly retired?: Readonly<Record<string, FieldKind>>
  /**
   * True for records that are added, read seldom and never changed. A storage may put them off to the end of the write that adds
   * them, and need not tell the change feed of them; a reader in that write finds them all the same. Their ids are
   * unique by the way they are made. Questions about them compare whole values: `contains` need not find them.
   */
  readonly isJournal?: boolean
  /** Carries the record's type; never present at run time. */
  readonly recordType?: T
}
