import {
  type Change,
  type Collection,
  compareBy,
  type FindQuery,
  Gate,
  Lifetime,
  matches,
  type RecordKind,
  type Storage,
  StorageUnavailable,
  type StoredRecord,
  UniqueViolation,
  type WriteTransaction,
} from 'portcullis/storage'

type Records = ReadonlyMap<string, StoredRecord>

/** Committed records. Nothing in it is ever changed, so that a read may go on holding it. */
interface Committed {
  readonly revision: number
  readonly tables: ReadonlyMap<string, Records>
  readonly changes: readonly Change[]
}

/** A storage that copies what it changes: plain, complete, and slow with many records. */
export function mapStorage(): Storage {
  let committed: Committed = { revision: 0, tables: new Map(), changes: [] }
  const writes = new Gate(1)
  const lifetime = new Lifetime(StorageUnavailable.closed)

  async function runWrite<T>(work: (tx: WriteTransaction) => Promise<T>): Promise<T> {
    const tx = new MapTransaction(committed)
    try {
      const answer = await work(tx)
      committed = tx.result()
      return answer
    } finally {
      tx.end()
    }
  }

  return {
    async read(work) {
      lifetime.assertOpen()
      const tx = new MapTransaction(committed)
      try {
        return await work(tx)
      } finally {
        tx.end()
      }
    },
    async write(work) {
      lifetime.assertOpen()
      return writes.run(() => runWrite(work))
    },
    close: () => lifetime.close(() => writes.idle()),
  }
}

class MapTransaction implements WriteTransaction {
  readonly #before: Committed
  /** The kinds that this write changed, each with a copy of its own. */
  readonly #changed = new Map<string, Map<string, StoredRecord>>()
  readonly #changes: Change[] = []
  readonly #lifetime = new Lifetime('the transaction has ended')

  constructor(before: Committed) {
    this.#before = before
  }

  get revision(): number {
    return this.#before.revision
  }

  async changesSince(revision: number): Promise<readonly Change[] | undefined> {
    this.#lifetime.assertOpen()
    if (revision > this.revision) return undefined
    return this.#before.changes.filter((change) => change.revision > revision)
  }

  collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T> {
    this.#lifetime.assertOpen()
    // Records under the name of a kind were inserted as records of that kind.
    const records = () => this.#recordsOf(kind.name) as ReadonlyMap<string, T>
    const put = (record: T, operation: Change['operation']) => {
      for (const field of kind.unique) {
        const value: unknown = Reflect.get(record, field)
        const isTaken = (other: T) => other.id !== record.id && Reflect.get(other, field) === value
        if (typeof value === 'string' && [...records().values()].some(isTaken)) {
          throw new UniqueViolation(kind.name, field, value)
        }
      }
      this.#copyOf(kind.name).set(record.id, structuredClone(record))
      this.#note(kind.name, record.id, operation)
    }
    const find = ({ where = { kind: 'all' }, orderBy = [], limit, offset = 0 }: FindQuery = {}) => {
      this.#lifetime.assertOpen()
      const found = [...records().values()].filter((record) => matches(where, record)).sort(compareBy(orderBy))
      return { page: found.slice(offset, limit === undefined ? undefined : offset + limit), totalCount: found.length }
    }
    return {
      get: async (id) => {
        this.#lifetime.assertOpen()
        return structuredClone(records().get(id))
      },
      find: async (query) => {
        const { page, totalCount } = find(query)
        return { items: structuredClone(page), totalCount }
      },
      findIds: async (query) => find(query).page.map(({ id }) => id),
      scan: async function* () {
        const { page } = find()
        // An answer may come in one slice, and with more fields than were asked for.
        if (page.length > 0) yield { items: structuredClone(page) }
      },
      insert: async (record) => {
        this.#lifetime.assertOpen()
        if (records().has(record.id)) throw new UniqueViolation(kind.name, 'id', record.id)
        put(record, 'insert')
      },
      update: async (record) => {
        this.#lifetime.assertOpen()
        if (!records().has(record.id)) return false
        put(record, 'update')
        return true
      },
      delete: async (id) => {
        this.#lifetime.assertOpen()
        if (!records().has(id)) return false
        this.#copyOf(kind.name).delete(id)
        this.#note(kind.name, id, 'delete')
        return true
      },
    }
  }

  /** The state that a successful write commits: a write that changed nothing makes no revision. */
  result(): Committed {
    if (this.#changes.length === 0) return this.#before
    const changes = [...this.#before.changes, ...this.#changes]
    return { revision: this.revision + 1, tables: new Map([...this.#before.tables, ...this.#changed]), changes }
  }

  end(): void {
    this.#lifetime.end()
  }

  #recordsOf(kind: string): Records {
    return this.#changed.get(kind) ?? this.#before.tables.get(kind) ?? new Map()
  }

  #copyOf(kind: string): Map<string, StoredRecord> {
    const copy = this.#changed.get(kind) ?? new Map(this.#recordsOf(kind))
    this.#changed.set(kind, copy)
    return copy
  }

  #note(kind: string, id: string, operation: Change['operation']): void {
    this.#changes.push({ revision: this.revision + 1, kind, id, operation })
  }
}
