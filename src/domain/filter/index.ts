export {
  both,
  type Comparison,
  equals,
  type FieldKind,
  type Filter,
  ids,
  isIn,
  type Literal,
  type Operand,
  type OrderBy,
  type Query,
} from './ast.ts'
export { compareBy, compareStrings } from './compare.ts'
export { FilterError } from './filter-error.ts'
export { fulfils } from './fulfils.ts'
export { matches } from './matches.ts'
export { parseQuery, parseSort } from './parse.ts'
export type { FilterSymbol, SymbolTable } from './symbols.ts'
