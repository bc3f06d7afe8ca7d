import { compareStrings } from '../../kernel/filter/index.ts'
import type { FrozenRecord } from './frozen-record.ts'
import { SortedMap } from './sorted-map.ts'

/** A value that can be looked up; an absent value counts as null. */
export type IndexedValue = string | number | boolean | null

interface Entry {
  readonly value: IndexedValue
  readonly id: string
}

/** The ids of a collection by the value of one field, or by each element of a set, ordered by value (nulls first), then by id. */
export class FieldIndex {
  readonly field: string
  readonly isOfSet: boolean
  readonly #entries: SortedMap<Entry, undefined>

  constructor(field: string, isOfSet: boolean, entries: SortedMap<Entry, undefined> = new SortedMap(compareEntries)) {
    this.field = field
    this.isOfSet = isOfSet
    this.#entries = entries
  }

  clone(): FieldIndex {
    return new FieldIndex(this.field, this.isOfSet, this.#entries.clone())
  }

  add(record: FrozenRecord): void {
    for (const value of this.#valuesIn(record)) this.#entries.set({ value, id: record.id }, undefined)
  }

  remove(record: FrozenRecord): void {
    for (const value of this.#valuesIn(record)) this.#entries.delete({ value, id: record.id })
  }

  /** Puts a record in the place of another of the same id. */
  replace(before: FrozenRecord, record: FrozenRecord): void {
    const old = this.#valuesIn(before)
    const values = this.#valuesIn(record)
    if (old.length === values.length && old.every((value, position) => value === values[position])) return
    this.remove(before)
    this.add(record)
  }

  /** Reads the value by which `record` is found. Throws a TypeError when the field holds a list or an object. */
  valueIn(record: FrozenRecord): IndexedValue {
    const value = record[this.field] ?? null
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return value
    }
    throw new TypeError(`field '${this.field}' of ${record.id} does not hold a single value`)
  }

  /** Tells whether a record other than `id` holds `value`. */
  isTaken(value: IndexedValue, id: string): boolean {
    for (const holder of this.idsWith(value)) if (holder !== id) return true
    return false
  }

  /** The ids of the records that hold `value`, ascending. */
  *idsWith(value: IndexedValue): Generator<string> {
    for (const entry of this.#entries.keys({ value, id: '' })) {
      if (compareValues(entry.value, value) !== 0) return
      yield entry.id
    }
  }

  /** Every id of the collection, ordered by the field's single value ascending. */
  *idsInOrder(): Generator<string> {
    for (const entry of this.#entries.keys()) yield entry.id
  }

  #valuesIn(record: FrozenRecord): readonly IndexedValue[] {
    if (!this.isOfSet) return [this.valueIn(record)]
    const elements = record[this.field]
    return Array.isArray(elements) ? elements : []
  }
}

function compareEntries(a: Entry, b: Entry): number {
  return compareValues(a.value, b.value) || compareStrings(a.id, b.id)
}

function compareValues(a: IndexedValue, b: IndexedValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  if (a === null || b === null) return Number(b === null) - Number(a === null)
  // Values of different types are never equal, not even `false` and the empty text.
  if (typeof a !== typeof b) return compareStrings(typeof a, typeof b)
  return a < b ? -1 : a > b ? 1 : 0
}
