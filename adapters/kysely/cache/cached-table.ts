import type { StoredRecord } from '../../../src/index.ts'

/** What is known of one id of a kind. */
export interface Entry {
  readonly table: CachedTable
  readonly id: string
  /** Absent when there is no record of the id. */
  readonly record: StoredRecord | undefined
  readonly size: number
  isUsed: boolean
}

/** The cached records of one kind, by id and by each unique field. */
export class CachedTable {
  readonly #byId = new Map<string, Entry>()
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

  add(entry: Entry): void {
    this.#byId.set(entry.id, entry)
    for (const [byValue, value] of this.#uniqueValues(entry)) byValue.set(value, entry)
  }

  remove(entry: Entry): void {
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
