export {
  both,
  type Comparison,
  equals,
  type FieldKind,
  type Filter,
  FilterError,
  fieldOf,
  ids,
  isIn,
  type Leaf,
  type Literal,
  leavesOf,
  type Operand,
  type OrderBy,
  type Query,
  whereOf,
  withWhere,
} from './ast.ts'
export type { FilterSymbol, LinkedSymbols, SymbolTable } from './filter-symbols.ts'
export { compareBy, compareStrings, fulfils, matches } from './matches.ts'
export { parseQuery, parseSort } from './parse.ts'
