import { compareStrings } from '../../kernel/filter/index.ts'
import { type RecordKind, UniqueViolation } from '../../ports/record-storage.ts'
import { FieldIndex } from './field-index.ts'
import type { FrozenRecord } from './frozen-record.ts'
import { SortedMap } from './sorted-map.ts'

/** The records of one kind, ordered by id, with an index for each unique and each indexed field. */
export class Table {
  readonly kind: RecordKind
  readonly records: SortedMap<string, FrozenRecord>
  readonly indexes: ReadonlyMap<string, FieldIndex>

  private constructor(
    kind: RecordKind,
    records: SortedMap<string, FrozenRecord>,
    indexes: ReadonlyMap<string, FieldIndex>,
  ) {
    this.kind = kind
    this.records = records
    this.indexes = indexes
  }

  static empty(kind: RecordKind): Table {
    return new Table(kind, new SortedMap(compareStrings), new Map(indexesOf(kind).map((index) => [index.field, index])))
  }

  /** A copy that shares everything with this one until either is changed. */
  clone(): Table {
    const indexes = new Map([...this.indexes].map(([field, index]) => [field, index.clone()]))
    return new Table(this.kind, this.records.clone(), indexes)
  }

  insert(record: FrozenRecord): void {
    if (this.records.has(record.id)) throw new UniqueViolation(this.kind.name, 'id', record.id)
    this.#refuseTakenValues(record)
    this.records.set(record.id, record)
    for (const index of this.indexes.values()) index.add(record)
  }

  update(record: FrozenRecord): boolean {
    const before = this.records.get(record.id)
    if (before === undefined) return false
    this.#refuseTakenValues(record)
    this.records.set(record.id, record)
    for (const index of this.indexes.values()) index.replace(before, record)
    return true
  }

  delete(id: string): boolean {
    const before = this.records.get(id)
    if (before === undefined) return false
    this.records.delete(id)
    for (const index of this.indexes.values()) index.remove(before)
    return true
  }

  #refuseTakenValues(record: FrozenRecord): void {
    for (const index of this.indexes.values()) {
      if (index.isOfSet) continue
      const value = index.valueIn(record)
      if (value === null || !this.kind.unique.includes(index.field)) continue
      if (index.isTaken(value, record.id)) throw new UniqueViolation(this.kind.name, index.field, String(value))
    }
  }
}

const SINGLE_VALUED: readonly (RecordKind['fields'][string] | undefined)[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'instant',
]

function indexesOf(kind: RecordKind): FieldIndex[] {
  const isSingleValued = (field: string) => SINGLE_VALUED.includes(kind.fields[field])
  const unsound = kind.unique.find((field) => !isSingleValued(field))
  if (unsound !== undefined) throw new TypeError(`${kind.name}.${unsound} cannot be unique: it holds no single value`)
  const isSet = (field: string) => kind.fields[field] === 'set'
  const indexed = kind.indexed.filter((field) => isSingleValued(field) || isSet(field))
  return [...new Set([...kind.unique, ...indexed])].map((field) => new FieldIndex(field, isSet(field)))
}
