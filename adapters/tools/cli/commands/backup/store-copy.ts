import { canonicalJson } from '../../../../../src/base/text.ts'
import type { Storage } from '../../../../../src/index.ts'
import {
  type Filter,
  type HistoryPoint,
  RECORD_KINDS,
  type ReadTransaction,
  type RecordKind,
  type StoredRecord,
} from '../../../../../src/storage.ts'

/** Records that are written at once: a write delays other writes, and a transaction has a size. */
const RECORDS_PER_WRITE = 500
/** Differences that are listed; further differences are only counted. */
const MOST_TOLD = 20

/** How far a copy is: records that were written, and the revision of the source that they belong to. */
export interface CopyProgress {
  readonly kind: string
  readonly records: number
}

/** The comparison of two stores, each at one revision. */
export interface StoreComparison {
  readonly records: number
  readonly differenceCount: number
  /** The first of the differences. */
  readonly differences: readonly {
    readonly kind: string
    readonly id: string
    readonly what: 'missing' | 'added' | 'changed'
  }[]
}

/**
 * Copies every record of a store into an empty one while it is served, and keeps the copy level with it: an operator loses nothing by
 * stopping the controller, letting the copy catch up and serving the copy.
 */
export class StoreCopy {
  readonly #from: Storage
  readonly #to: Storage
  #place: HistoryPoint = { revision: -1 }
  /** The last id of each kind of record that the change feed need not report. */
  readonly #lastIds = new Map<string, string>()

  constructor(from: Storage, to: Storage) {
    this.#from = from
    this.#to = to
  }

  /** The revision of the source that the copy holds; -1 before the first. */
  get revision(): number {
    return this.#place.revision
  }

  /** Copies one snapshot of the source. Rejects where the destination holds records, or the source damaged ones. */
  async begin(onProgress: (progress: CopyProgress) => void = () => undefined): Promise<void> {
    const held = await this.#to.read(async (tx) => tx.revision)
    if (held > 0) throw new Error('the destination holds records already: a copy needs an empty one')
    await this.#from.read(async (tx) => {
      for (const kind of RECORD_KINDS) {
        let records = 0
        for await (const slice of wholeRecords(tx, kind)) {
          for (const batch of batchesOf(slice)) await this.#insert(kind, batch)
          records += slice.length
          onProgress({ kind: kind.name, records })
        }
      }
      this.#place = { revision: tx.revision, line: tx.line }
    })
  }

  /** Takes over the writes since then; answers the number of records. Rejects when the source has forgotten these changes. */
  async follow(): Promise<number> {
    return this.#from.read(async (tx) => {
      const changes = await tx.changesSince(this.#place.revision, this.#place.line)
      if (changes === undefined)
        throw new Error(
          'the source has forgotten what changed since the copy, or was put back to an earlier state: begin again',
        )
      const touched = new Map(changes.map(({ kind, id }) => [`${kind} ${id}`, { kind, id }]))
      const known = new Map(RECORD_KINDS.map((kind) => [kind.name, kind]))
      const work = [...touched.values()].flatMap(({ kind, id }) => {
        const found = known.get(kind)
        return found === undefined || found.isJournal ? [] : [{ kind: found, id }]
      })
      await this.#replace(tx, work)
      let journal = 0
      for (const kind of RECORD_KINDS) if (kind.isJournal) journal += await this.#followJournal(tx, kind)
      this.#place = { revision: tx.revision, line: tx.line }
      return work.length + journal
    })
  }

  /** Compares every record of both. */
  async compare(): Promise<StoreComparison> {
    return compareStores(this.#from, this.#to)
  }

  async #insert(kind: RecordKind, records: readonly StoredRecord[]): Promise<void> {
    const last = records.at(-1)
    if (last === undefined) return
    await this.#to.write(async (tx) => {
      for (const record of records) await tx.collection(kind).insert(record)
    })
    if (kind.isJournal) this.#lastIds.set(kind.name, last.id)
  }

  /** First all go and then all come: two may have exchanged their names. */
  async #replace(from: ReadTransaction, work: readonly { readonly kind: RecordKind; readonly id: string }[]) {
    for (const batch of batchesOf(work)) {
      await this.#to.write(async (tx) => {
        for (const { kind, id } of batch) await tx.collection(kind).delete(id)
      })
    }
    for (const batch of batchesOf(work)) {
      const records: { kind: RecordKind; record: StoredRecord }[] = []
      for (const { kind, id } of batch) {
        const record = await from.collection(kind).get(id)
        if (record !== undefined) records.push({ kind, record })
      }
      await this.#to.write(async (tx) => {
        for (const { kind, record } of records) await tx.collection(kind).insert(record)
      })
    }
  }

  async #followJournal(from: ReadTransaction, kind: RecordKind): Promise<number> {
    let count = 0
    for (;;) {
      const { items } = await from.collection(kind).find({
        where: after(this.#lastIds.get(kind.name) ?? ''),
        orderBy: [{ field: 'id', kind: 'string', direction: 'asc' }],
        limit: RECORDS_PER_WRITE,
      })
      if (items.length === 0) return count
      await this.#insert(kind, items)
      count += items.length
    }
  }
}

/** Compares every record of two stores, each in one snapshot. */
export async function compareStores(from: Storage, to: Storage): Promise<StoreComparison> {
  const differences: StoreComparison['differences'][number][] = []
  let records = 0
  let differenceCount = 0
  const note = (difference: (typeof differences)[number]) => {
    differenceCount += 1
    if (differences.length < MOST_TOLD) differences.push(difference)
  }
  await from.read((one) =>
    to.read(async (other) => {
      for (const kind of RECORD_KINDS) {
        const there = each(other, kind)
        let right = await there.next()
        for await (const left of each(one, kind)) {
          records += 1
          while (!right.done && right.value.id < left.id) {
            note({ kind: kind.name, id: right.value.id, what: 'added' })
            right = await there.next()
          }
          if (right.done || right.value.id !== left.id) note({ kind: kind.name, id: left.id, what: 'missing' })
          else {
            if (canonicalJson(left) !== canonicalJson(right.value))
              note({ kind: kind.name, id: left.id, what: 'changed' })
            right = await there.next()
          }
        }
        for (; !right.done; right = await there.next()) note({ kind: kind.name, id: right.value.id, what: 'added' })
      }
    }),
  )
  return { records, differenceCount, differences }
}

function* batchesOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let begin = 0; begin < all.length; begin += RECORDS_PER_WRITE) yield all.slice(begin, begin + RECORDS_PER_WRITE)
}

async function* each(tx: ReadTransaction, kind: RecordKind): AsyncGenerator<StoredRecord> {
  for await (const slice of wholeRecords(tx, kind)) yield* slice
}

async function* wholeRecords(tx: ReadTransaction, kind: RecordKind): AsyncGenerator<readonly StoredRecord[]> {
  for await (const { items, damaged = [] } of tx.collection(kind).scan(fieldsOf(kind))) {
    const [first] = damaged
    if (first !== undefined) throw new Error(`${first.message}: portcullis doctor --repair comes before a copy`)
    yield items
  }
}

/** A scan reads the fields that it names, and only the declaration has the names of fields. */
function fieldsOf(kind: RecordKind): readonly 'id'[] {
  return Object.keys(kind.fields) as readonly string[] as readonly 'id'[]
}

function after(id: string): Filter {
  return { kind: 'compare', operand: { kind: 'field', field: 'id' }, operator: '>', value: id }
}
