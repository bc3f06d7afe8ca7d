import type { RecordKind, StoredRecord } from '../kernel/declaration/record-kind.ts'
import type { Filter, OrderBy } from '../kernel/filter/index.ts'

export type { RecordKind, StoredRecord }

/** A query for one kind of record. Without `where` it matches all records; `orderBy` always ends with `id` ascending. */
export interface FindQuery {
  readonly where?: Filter
  readonly orderBy?: readonly OrderBy[]
  /** The most records to answer; all records when absent. */
  readonly limit?: number
  readonly offset?: number
}

/** A page of records. `totalCount` counts all matches of `where`, whatever the limit, including damaged records. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly totalCount: number
  /**
   * The unreadable records of the page, which `items` leaves out; absent without any. A query for records that take rights away must not
   * ignore them.
   */
  readonly damaged?: readonly DamagedRecord[]
}

/** Some records of one kind, each with at least the requested fields. */
export interface Slice<T> {
  readonly items: readonly T[]
  /** Records with a requested field that cannot be read; absent when there are none. */
  readonly damaged?: readonly DamagedRecord[]
}

/** Read access to the records of one kind. */
export interface ReadCollection<T extends StoredRecord> {
  /** Throws {@link DamagedRecord} for an unreadable record. */
  get(id: string): Promise<T | undefined>
  find(query?: FindQuery): Promise<Page<T>>
  /** The ids of the records that `find` would answer, in its order, including damaged records. The records are not read. */
  findIds(query?: FindQuery): Promise<readonly string[]>
  /**
   * Every record in the order of ids, with its id, the named fields and perhaps more. Records come in slices, so that a million records are
   * never held at once. Changes that the same write makes meanwhile may be missing. A damaged record tells which of the named fields are
   * unreadable.
   */
  scan<F extends keyof T & string>(fields: readonly F[]): AsyncIterable<Slice<Pick<T, F | 'id'>>>
}

/** Read and write access to the records of one kind. */
export interface Collection<T extends StoredRecord> extends ReadCollection<T> {
  /** Adds a record. Throws {@link UniqueViolation} when its id or a unique field is taken. */
  insert(record: T): Promise<void>
  /** Replaces the record with the same id; false for an unknown id. Throws {@link UniqueViolation}. */
  update(record: T): Promise<boolean>
  /** Removes a record. Exactly one of any number of callers gets true, which makes one-time tokens safe. */
  delete(id: string): Promise<boolean>
}

/**
 * One entry of the change feed. `revision` grows by one with every committed write that has changes; all changes of one write share it, in
 * their order.
 */
export interface Change {
  readonly revision: number
  readonly kind: string
  readonly id: string
  readonly operation: 'insert' | 'update' | 'delete'
}

/** A place in the history of a store. Snapshots at the same place are equal. */
export interface HistoryPoint {
  /** 0 for a new storage. Each committed write with changes adds one. */
  readonly revision: number
  /**
   * Distinguishes commits with the same revision. A database that lost its last commits, by a restore or a replacement, counts their
   * revisions again. Each commit therefore has a line of its own, which no other commit of any store shares. Absent in a storage without
   * lines: a reader that keeps state then notices lost commits only while the store has a lower revision.
   */
  readonly line?: string | undefined
}

/**
 * Reports whether two places in the history of a store are the same, as far as the storage knows.
 *
 * @example
 * isSamePoint({ revision: 7, line: '31' }, { revision: 7, line: '52' }) // false: revision 7 was lost, and counted again
 */
export function isSamePoint(one: HistoryPoint, other: HistoryPoint): boolean {
  return one.revision === other.revision && one.line === other.line
}

/**
 * A consistent snapshot: all reads through it belong to its place in the history of the store.
 *
 * A transaction ends with the work that received it. From then on it and its collections reject every call with an `Error` whose message
 * contains `transaction has ended`, and read and change nothing.
 */
export interface ReadTransaction extends HistoryPoint {
  collection<T extends StoredRecord>(kind: RecordKind<T>): ReadCollection<T>
  /**
   * The changes after `revision` up to this snapshot, oldest first; empty for the snapshot's own revision. `undefined` when the feed does
   * not reach back so far, and when `revision` is ahead of the snapshot (the store has been put back to an earlier state since): the reader
   * must then read everything again. Inside a write, only earlier commits are reported, not the write's own changes.
   *
   * `line` is the line that the reader saw at `revision`. With it, the answer is also `undefined` when another commit has that revision
   * now, or the commit is forgotten.
   */
  changesSince(revision: number, line?: string): Promise<readonly Change[] | undefined>
}

export interface WriteTransaction extends ReadTransaction {
  collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T>
}

/** Properties of a read that a storage may make use of. */
export interface ReadOptions {
  /**
   * True when the work may be restarted over a later snapshot before it ends. A restart must set again every effect that the work has
   * outside, and only the answer of its last run counts. A storage may delay the snapshot until the work needs records that are not in
   * memory. Default: false.
   */
  readonly mayBeginAgain?: boolean
}

/**
 * The store of a controller's records. The storage contract suite checks these guarantees for every implementation: a write is atomic (a
 * throw rolls everything back), writers are serialised, a write sees every earlier commit and its own changes, a read sees one consistent
 * snapshot that no later write disturbs, and an acknowledged write is as durable as the implementation promises.
 *
 * Slow work (hashing, signing, the network) does not belong inside `write`. Work inside a transaction uses only its own handle.
 */
export interface Storage {
  /** True when the records do not outlive this process. A controller then needs no lasting certificates. */
  readonly isVolatile?: boolean
  /** Runs `work` over one snapshot that holds at least all commits so far, and answers its answer. */
  read<T>(work: (tx: ReadTransaction) => Promise<T>, options?: ReadOptions): Promise<T>
  /** Runs `work` and commits its changes before this resolves. When `work` throws, nothing is changed. */
  write<T>(work: (tx: WriteTransaction) => Promise<T>): Promise<T>
  /**
   * Makes a durable copy beside the original, and answers its location in words for operators; undefined for a copy without a name. Absent
   * in a storage without copies.
   */
  snapshot?(): Promise<string | undefined>
  /**
   * Releases all resources once accepted work is done. From now on reads and writes reject with a {@link StorageUnavailable} whose reason
   * is `closed`.
   */
  close(): Promise<void>
}

/**
 * A unique value that another record of the kind already holds. The change had no effect, and the write may go on. When several values are
 * taken, `field` is any of their fields.
 *
 * @example
 * throw new UniqueViolation('services', 'name', 'web') // duplicate value 'web' in unique index on services.name
 */
export class UniqueViolation extends Error {
  readonly kind: string
  readonly field: string
  readonly value: string

  constructor(kind: string, field: string, value: string) {
    super(`duplicate value '${value}' in unique index on ${kind}.${field}`)
    this.name = 'UniqueViolation'
    this.kind = kind
    this.field = field
    this.value = value
  }
}

/**
 * A record with invalid stored values: malformed JSON, or a value of another type. It cannot be read, but it can be replaced and deleted.
 * Other records are not affected.
 *
 * @example
 * throw new DamagedRecord('services', { id: 's1' }, ['tags']) // of services: tags cannot be read
 */
export class DamagedRecord extends Error {
  readonly kind: string
  readonly id: string
  /** The fields with unreadable values. */
  readonly fields: readonly string[]
  /** The readable rest of the record. The damaged fields have the values of a new record, not their stored values. */
  readonly remains: StoredRecord

  constructor(kind: string, remains: StoredRecord, fields: readonly string[]) {
    super(`the stored record ${remains.id} of ${kind} is damaged: ${fields.join(', ')} cannot be read`)
    this.name = 'DamagedRecord'
    this.kind = kind
    this.id = remains.id
    this.fields = fields
    this.remains = remains
  }
}

/** The reason why a storage cannot work at present; `closed` is final. */
export type UnavailableReason = 'busy' | 'full' | 'read-only' | 'corrupt' | 'unreachable' | 'closed'

/**
 * The storage cannot answer at present: its database is locked by other processes, full, read-only, damaged or unreachable, or it was
 * closed. The failed read or write had no effect, except that a connection lost during a commit leaves its outcome open. The storage
 * recovers without a restart when the cause is gone.
 *
 * @example
 * throw new StorageUnavailable('busy', 'the database is locked by another process', { cause })
 */
export class StorageUnavailable extends Error {
  readonly reason: UnavailableReason

  constructor(reason: UnavailableReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StorageUnavailable'
    this.reason = reason
  }

  /**
   * Makes the error with which a closed storage rejects.
   *
   * @example
   * const lifetime = new Lifetime(StorageUnavailable.closed)
   */
  static closed(this: void): StorageUnavailable {
    return new StorageUnavailable('closed', 'the storage is closed')
  }
}
