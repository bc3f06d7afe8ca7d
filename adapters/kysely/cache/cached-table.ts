import type { StoredRecord } from '../../../src/index.ts'

/** What is held of a kind. */
interface Held {
  readonly table: CachedTable
  readonly size: number
  isUsed: boolean
}

/** What is known of one id of a kind. */
export interface Entry extends Held {
  readonly id: string
  /** Absent when there is no record of the id. */
  readonly record: StoredRecord | undefined
}

/** Which records of a kind hold a value in a field. */
export interface ListEntry extends Held {
  readonly field: string
  readonly value: string
  readonly ids: readonly string[]
}

/** The cached records of one kind, by id and by each unique field, and which hold a value. */
export class CachedTable {
  readonly #byId = new Map<string, Entry>()
  /** By field, then by value. */
  readonly #lists = new Map<string, Map<string, ListEntry>>()
  readonly #unique: readonly (readonly [field: string, byValue: Map<unknown, Entry>])[]

  constructor(unique: readonly string[]) {
    this.#unique = unique.map((field) => [field, new Map()])
  }

  get(id: string): Entry | undefined {
    return this.#byId.get(id)
  }

  /** The entry whose record holds `value` in a unique field. */
  getUnique(field: string, value: unknown): Entry | undefined {
    return this.#unique.find(([name]) => name === field)?.[1].get(value)
  }

  getList(field: string, value: string): ListEntry | undefined {
    return this.#lists.get(field)?.get(value)
  }

  /** Every list, because each may be different after a change of a record. */
  *lists(): Generator<ListEntry> {
    for (const byValue of this.#lists.values()) yield* byValue.values()
  }

  addList(list: ListEntry): void {
    let byValue = this.#lists.get(list.field)
    if (byValue === undefined) {
      byValue = new Map()
      this.#lists.set(list.field, byValue)
    }
    byValue.set(list.value, list)
  }

  add(entry: Entry): void {
    this.#byId.set(entry.id, entry)
    for (const [byValue, value] of this.#uniqueValues(entry)) byValue.set(value, entry)
  }

  remove(entry: Entry | ListEntry): void {
    if ('ids' in entry) {
      this.#lists.get(entry.field)?.delete(entry.value)
      return
    }
    this.#byId.delete(entry.id)
    for (const [byValue, value] of this.#uniqueValues(entry)) byValue.delete(value)
  }

  *#uniqueValues({ record }: Entry): Generator<readonly [byValue: Map<unknown, Entry>, value: unknown]> {
    if (record === undefined) return
    for (const [field, byValue] of this.#unique) {
      const value: unknown = Reflect.get(record, field)
      if (value !== null) yield [byValue, value]
    }
  }
}
