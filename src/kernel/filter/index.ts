export { compareBy, compareStrings } from './evaluation/compare.ts'
export { fulfils } from './evaluation/fulfils.ts'
export { matches } from './evaluation/matches.ts'
export { parseQuery, parseSort } from './parser/parse.ts'
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
} from './tree/ast.ts'
export { FilterError } from './tree/filter-error.ts'
export { fieldOf, type Leaf, leavesOf, whereOf, withWhere } from './tree/leaves.ts'
export type { FilterSymbol, LinkedSymbols, SymbolTable } from './tree/symbols.ts'
