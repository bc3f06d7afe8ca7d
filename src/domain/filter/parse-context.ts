import type { Query } from './ast.ts'
import type { Limits } from './limits.ts'
import type { SymbolTable } from './symbols.ts'
import type { TokenReader } from './token-reader.ts'

/** What every part of the parser works with. */
export interface ParseContext {
  readonly reader: TokenReader
  readonly symbols: SymbolTable
  readonly count: Limits
  /** Reads the query after `where` of a subquery, over the symbols of its relation. */
  subquery(symbols: SymbolTable): Query
}
