import type { FindQuery } from '../../../../src/index.ts'
import type { StoredRecord } from '../../../../src/storage.ts'
import type { RecordTable } from '../schema/record-table.ts'

/** The entries that are held of a kind. */
interface Held {
  readonly table: CachedTable
  readonly size: number
  isUsed: boolean
}

/** The cached answer for one id of a kind. */
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

/** The names of the records in a question, when it asks for nothing else. */
export type NamedRecords =
  | { readonly by: 'id'; readonly ids: ReadonlySet<string> }
  | { readonly by: 'unique'; readonly field: string; readonly value: string }
  | { readonly by: 'indexed'; readonly field: string; readonly values: ReadonlySet<string> }

/** The records that a query names: by their ids, by a unique text, or by indexed texts. Undefined for any other query or order. */
export function namedRecords({ kind }: RecordTable, { where, orderBy }: FindQuery): NamedRecords | undefined {
  if (where?.kind !== 'compare' && where?.kind !== 'in') return undefined
  if (where.operand.kind !== 'field' || !isById(orderBy)) return undefined
  const { field } = where.operand
  const isUnique = kind.unique.includes(field)
  const isIndexed = (isUnique || kind.indexed.includes(field)) && kind.fields[field] === 'string'
  if (where.kind === 'in') {
    if (field === 'id') return { by: 'id', ids: texts(where.values) }
    const values = texts(where.values)
    // Unlike an id, a field may hold null.
    return isIndexed && values.size === where.values.size ? { by: 'indexed', field, values } : undefined
  }
  const { operator, value } = where
  if (operator !== '=' || typeof value !== 'string') return undefined
  if (field === 'id') return { by: 'id', ids: new Set([value]) }
  if (!isIndexed) return undefined
  return isUnique ? { by: 'unique', field, value } : { by: 'indexed', field, values: new Set([value]) }
}

function isById(orderBy: FindQuery['orderBy']): boolean {
  const [first] = orderBy ?? []
  return first === undefined || (first.field === 'id' && first.direction === 'asc')
}

/** An id is equal to no value of another type. */
function texts(values: ReadonlySet<unknown>): ReadonlySet<string> {
  for (const value of values) if (typeof value !== 'string') return new Set([...values].filter(isText))
  // Every value was just checked to be a text.
  return values as ReadonlySet<string>
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
