import type { FieldKind } from './ast.ts'
import { FilterError } from './filter-error.ts'

/**
 * A public symbol: the stored field behind it and how that compares. Dots in `field` lead into a nested value
 * (`primary.cert.allowed`); a set is never nested.
 */
export interface FilterSymbol {
  readonly field: string
  readonly kind: FieldKind
  /** True when nothing is stored under `field`, which is then taken whole: whoever reads the records knows its values. */
  readonly isComputed?: true
}

/** What a filter may name, by symbol. */
export type SymbolTable = Readonly<Record<string, FilterSymbol>>

/** A symbol as a filter names it at a column; `path` leads into the value of `field` (`tags.owner`). */
export interface NamedSymbol extends FilterSymbol {
  readonly name: string
  readonly at: number
  readonly path: readonly string[]
}

/** Looks a name up, whole or as the way into a JSON field. Error: `unknown symbol '<name>'` and where it stands. */
export function findSymbol(name: string, symbols: SymbolTable, at: number): NamedSymbol {
  const [root = '', ...members] = name.split('.')
  const whole = own(symbols, name)
  if (whole !== undefined) return { ...named(name, whole, []), at }
  const json = own(symbols, root)
  if (json?.kind === 'json') return { ...named(name, json, members), at }
  const expected = Object.keys(symbols).sort().join(', ')
  throw new FilterError('unknown-symbol', `unknown symbol '${name}' at column: ${at} (expected one of ${expected})`)
}

function named(name: string, symbol: FilterSymbol, members: readonly string[]): Omit<NamedSymbol, 'at'> {
  if (symbol.isComputed) return { ...symbol, name, path: members }
  const [field = '', ...path] = symbol.field.split('.')
  return { name, kind: symbol.kind, field, path: [...path, ...members] }
}

function own(symbols: SymbolTable, name: string): FilterSymbol | undefined {
  return Object.hasOwn(symbols, name) ? symbols[name] : undefined
}
