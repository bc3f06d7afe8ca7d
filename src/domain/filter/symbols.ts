import type { FieldKind } from './ast.ts'
import { FilterError } from './filter-error.ts'

/** A public symbol: the stored field behind it and how that compares. */
export interface FilterSymbol {
  readonly field: string
  readonly kind: FieldKind
}

/** What a filter may name, by symbol. */
export type SymbolTable = Readonly<Record<string, FilterSymbol>>

/** A symbol as a filter names it; `path` leads into a JSON field (`tags.owner`). */
export interface NamedSymbol extends FilterSymbol {
  readonly name: string
  readonly path: readonly string[]
}

/** Looks a name up, whole or as the way into a JSON field. Error: `unknown symbol '<name>'`. */
export function findSymbol(name: string, symbols: SymbolTable): NamedSymbol {
  const whole = own(symbols, name)
  if (whole !== undefined && whole.kind !== 'json') return { ...whole, name, path: [] }
  const [root = '', ...path] = name.split('.')
  const json = own(symbols, root)
  if (json?.kind === 'json' && path.length > 0) return { ...json, name, path }
  throw new FilterError('unknown-symbol', `unknown symbol '${name}'`)
}

function own(symbols: SymbolTable, name: string): FilterSymbol | undefined {
  return Object.hasOwn(symbols, name) ? symbols[name] : undefined
}
