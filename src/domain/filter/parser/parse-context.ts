import type { TokenReader } from '../tokens/token-reader.ts'
import type { Query } from '../tree/ast.ts'
import type { Limits } from '../tree/limits.ts'
import type { LinkedSymbols, SymbolTable } from '../tree/symbols.ts'

/** What every part of the parser works with. */
export interface ParseContext {
  readonly reader: TokenReader
  readonly symbols: SymbolTable
  readonly linked: LinkedSymbols
  readonly count: Limits
  /** Reads the query after `where` of a subquery, over the symbols of its relation. */
  subquery(symbols: SymbolTable): Query
}
