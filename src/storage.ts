/**
 * What a storage of your own is written with: the port, the filters that it answers, the kinds of record that it holds
 * and the errors that it throws; and what most storages need: a gate for their writes, and a lifetime for what ends.
 * `portcullis/storage/contract` tells whether it keeps its promises.
 *
 * @module portcullis/storage
 */
export { Gate, type Patience } from './concurrency/gate.ts'
export { Lifetime } from './concurrency/lifetime.ts'
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
} from './domain/filter/index.ts'
export * from './ports/storage.ts'
export { RECORD_KINDS } from './resources/index.ts'
