import type { RecordKind, StoredRecord } from '../kernel/declaration/record-kind.ts'
import type { Filter, OrderBy } from '../kernel/filter/index.ts'

export type { RecordKind, StoredRecord }

/** A question about one kind of record. Without `where` it is about all; `orderBy` ends with `id` ascending, always. */
export interface FindQuery {
  readonly where?: Filter
  readonly orderBy?: readonly OrderBy[]
  /** Greatest number of records; all of them when absent. */
  readonly limit?: number
  readonly offset?: number
}

/** One page of an answer; `totalCount` counts what matches `where`, whatever the limit, damaged records too. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly totalCount: number
  /**
   * The records of the page that cannot be read, which `items` leaves out; absent when there are none. A question for
   * records that take rights away must not go on as if these were not there.
   */
  readonly damaged?: readonly DamagedRecord[]
}

/** Some of the records of one kind, of each at least the fields that were asked for. */
export interface Slice<T> {
  readonly items: readonly T[]
  /** Records with a requested field that cannot be read; absent when there are none. */
  readonly damaged?: readonly DamagedRecord[]
}

/** The records of one kind, to be read. */
export interface ReadCollection<T extends StoredRecord> {
  /** Throws {@link DamagedRecord} for one that cannot be read. */
  get(id: string): Promise<T | undefined>
  find(query?: FindQuery): Promise<Page<T>>
  /** The ids of the records that `find` would answer, in its order, damaged ones too; the records themselves are not read. */
  findIds(query?: FindQuery): Promise<readonly string[]>
  /**
   * Every record in the order of ids, of each the id and the named fields, perhaps more: a slice at a time, so that a million
   * records are never held at once. What the same write changes meanwhile may be there or not. A damaged record tells those
   * of the named fields that cannot be read.
   */
  scan<F extends keyof T & string>(fields: readonly F[]): AsyncIterable<Slice<Pick<T, F | 'id'>>>
}

/** The records of one kind, to be read and changed. */
export interface Collection<T extends StoredRecord> extends ReadCollection<T> {
  /** Adds a record. Throws {@link UniqueViolation} when its id or a unique field is taken. */
  insert(record: T): Promise<void>
  /** Replaces the record with the same id; answers false when there is none. Throws {@link UniqueViolation}. */
  update(record: T): Promise<boolean>
  /** Removes a record; answers true for exactly one of any number of callers: so one-time tokens are consumed. */
  delete(id: string): Promise<boolean>
}

/**
 * One entry of the change feed. `revision` grows by one with every committed write that changed something; all changes of
 * one write share it, in the order in which they were made.
 */
export interface Change {
  readonly revision: number
  readonly kind: string
  readonly id: string
  readonly operation: 'insert' | 'update' | 'delete'
}

/** A place in the history of a store. Snapshots at the same place hold the same. */
export interface HistoryPoint {
  /** 0 for a storage that was never written; each committed write that changes something adds one. */
  readonly revision: number
  /**
   * Tells commits of the same revision apart. A database that lost its last commits, because it was restored or because another
   * one took its place, counts their revisions again; each commit therefore has a line of its own, which it shares with no other
   * commit of any store. Absent where a storage knows none: a reader that keeps what it read then finds out about commits that
   * were lost only while the store has a lower revision.
   */
  readonly line?: string | undefined
}

/**
 * Reports whether two places in the history of a store are the same, as far as the storage tells.
 *
 * @example
 * isSamePoint({ revision: 7, line: '31' }, { revision: 7, line: '52' }) // false: revision 7 was lost, and counted again
 */
export function isSamePoint(one: HistoryPoint, other: HistoryPoint): boolean {
  return one.revision === other.revision && one.line === other.line
}

/**
 * A consistent snapshot: everything read through it belongs to its place in the history of the store.
 *
 * A transaction lives as long as the work that was given it. From then on it and its collections reject every call with
 * an `Error` whose message contains `transaction has ended`, and nothing is read or changed.
 */
export interface ReadTransaction extends HistoryPoint {
  collection<T extends StoredRecord>(kind: RecordKind<T>): ReadCollection<T>
  /**
   * The changes after `revision` up to this snapshot, oldest first; none when `revision` is the snapshot's own. `undefined`
   * when the feed does not reach back so far, and when `revision` is ahead of the snapshot (its reader saw a store that was
   * since put back to an earlier state): the reader must start afresh. Inside a write it tells what was committed before,
   * not the write's own changes.
   *
   * With `line`, the one that the reader saw at `revision`, it is `undefined` also where the commit of that revision is another
   * one by now, or was forgotten.
   */
  changesSince(revision: number, line?: string): Promise<readonly Change[] | undefined>
}

export interface WriteTransaction extends ReadTransaction {
  collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T>
}

/** The circumstances of a read that a storage may know. */
export interface ReadOptions {
  /**
   * Whether the work may be begun afresh, over a later snapshot, before it has come to its end: it changes nothing outside but
   * what it sets again, and only the answer of its last run counts. A storage may then put off the snapshot until the work
   * asks for what is not at hand. Default: false.
   */
  readonly mayBeginAgain?: boolean
}

/**
 * Where a controller keeps its records. Guarantees, held by the storage contract suite for every implementation:
 * a write is atomic (a throw rolls everything back), writers are serialised, a write sees every earlier commit and its own
 * changes, a read sees one consistent snapshot that no later write disturbs, and an acknowledged write is as durable as the
 * implementation says.
 *
 * Nothing slow belongs inside `write` (hashing, signing, the network), and work inside a transaction uses its own handle only.
 */
export interface Storage {
  /** True when what it holds is gone with this process; a controller then needs no certificates that outlive it. */
  readonly isVolatile?: boolean
  /** Runs `work` over one snapshot of what is committed by now, or later, and answers what it answers. */
  read<T>(work: (tx: ReadTransaction) => Promise<T>, options?: ReadOptions): Promise<T>
  /** Runs `work` and commits what it changed before this resolves; when it throws, nothing is changed. */
  write<T>(work: (tx: WriteTransaction) => Promise<T>): Promise<T>
  /**
   * Makes a durable copy of everything beside the original, and answers where it lies, in words for operators; undefined where that
   * has no name. Absent where a storage makes none.
   */
  snapshot?(): Promise<string | undefined>
  /**
   * Lets go of everything once the work that was accepted is done. From now on reads and writes reject with a
   * {@link StorageUnavailable} whose reason is `closed`.
   */
  close(): Promise<void>
}

/**
 * A record that holds a value which another record of its kind already has. Nothing of the change took effect, and the
 * write may go on. Where several fields are taken, `field` is any of them.
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
 * A record that is stored as no storage stores one: a text that is no JSON, a value of another type. It cannot be read; it
 * can be replaced and deleted like any other, and its kind and the rest of the storage are as they were.
 *
 * @example
 * throw new DamagedRecord('services', { id: 's1' }, ['tags']) // of services: tags cannot be read
 */
export class DamagedRecord extends Error {
  readonly kind: string
  readonly id: string
  /** The fields whose values cannot be read. */
  readonly fields: readonly string[]
  /** The record with those fields as they are in a record that nobody has written to: what is left, not what was stored. */
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

/** Why a storage cannot do its work at present; `closed` is for good. */
export type UnavailableReason = 'busy' | 'full' | 'read-only' | 'corrupt' | 'unreachable' | 'closed'

/**
 * The storage cannot answer at present: its database is locked by others, full, read-only, damaged or away, or it was closed. Nothing of the
 * read or write that throws it took effect, except that a connection lost during a commit leaves open whether it did. The
 * storage goes on without a restart when the cause is gone.
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
   * Makes what a storage rejects with after its end.
   *
   * @example
   * const lifetime = new Lifetime(StorageUnavailable.closed)
   */
  static closed(this: void): StorageUnavailable {
    return new StorageUnavailable('closed', 'the storage is closed')
  }
}
