/**
 * The parts that a storage of your own is written with: the port, the filters that it answers, the kinds of record that it
 * holds and the errors that it throws; and what most storages need: a gate for their writes, and a lifetime for what ends.
 * `portcullis/storage/contract` tells whether it keeps its promises.
 *
 * @module portcullis/storage
 */
export { Gate, type Patience } from './concurrency/gate.ts'
export { Lifetime } from './concurrency/lifetime.ts'
export type { JoinableStorage, JointController, JointWrite, JoinWrite } from './controller/joint-writes.ts'
export { RECORD_KINDS } from './facts/resources/index.ts'
export {
  both,
  type Comparison,
  compareBy,
  compareStrings,
  equals,
  type FieldKind,
  type Filter,
  FilterError,
  type FilterSymbol,
  ids,
  isIn,
  type Literal,
  matches,
  type Operand,
  type OrderBy,
  parseQuery,
  type Query,
  type SymbolTable,
} from './kernel/filter/index.ts'
export {
  type Change,
  type Collection,
  DamagedRecord,
  type FindQuery,
  type HistoryPoint,
  isSamePoint,
  type Page,
  type ReadCollection,
  type ReadOptions,
  type ReadTransaction,
  type RecordKind,
  type Slice,
  type Storage,
  StorageUnavailable,
  type StoredRecord,
  type UnavailableReason,
  UniqueViolation,
  type WriteTransaction,
} from './ports/record-storage.ts'
