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
  /** Of which kind the entities are whose ids it holds: `services`. */
  readonly linksTo?: string
}

/** What a filter may name of the entities of a kind. */
export type LinkedSymbols = (kind: string) => SymbolTable

/** What a filter may name, by symbol. */
export type SymbolTable = Readonly<Record<string, FilterSymbol>>

/** A field whose ids lead to other entities: a set of them, or at most one. */
export interface Link {
  readonly field: string
  readonly isSet: boolean
}

/**
 * A symbol as a filter names it at a column: of the record itself, or of the entity to which `via` leads
 * (`service.name`). `path` leads into the value of `field` (`tags.owner`).
 */
export interface NamedSymbol extends FilterSymbol {
  readonly name: string
  readonly at: number
  readonly path: readonly string[]
  readonly via: readonly Link[]
}

/** What a name may lead to. */
export interface Surroundings {
  readonly symbols: SymbolTable
  readonly linked: LinkedSymbols
  /** Called before a look at another kind of entity; it throws where there were too many. */
  countLink(): void
}

/**
 * Looks a name up: whole, as the way into a JSON field, or as the way to another entity. Error: `unknown symbol '<name>'`,
 * where it stands, and what could stand there.
 */
export function findSymbol(name: string, { symbols, linked, countLink }: Surroundings, at: number): NamedSymbol {
  let [table, rest]: [SymbolTable, string] = [symbols, name]
  const via: Link[] = []
  for (;;) {
    const found = foundIn(table, rest)
    if (found !== undefined) return { ...found, name, at, via }
    const dot = rest.indexOf('.')
    const link = dot === -1 ? undefined : own(table, rest.slice(0, dot))
    if (link?.linksTo === undefined) break
    countLink()
    via.push({ field: link.field, isSet: link.kind === 'set' })
    table = linked(link.linksTo)
    rest = rest.slice(dot + 1)
  }
  const expected = Object.keys(table).sort().join(', ')
  throw new FilterError('unknown-symbol', `unknown symbol '${name}' at column: ${at} (expected one of ${expected})`)
}

type Found = Omit<NamedSymbol, 'at' | 'name' | 'via'>

function foundIn(symbols: SymbolTable, name: string): Found | undefined {
  const whole = own(symbols, name)
  if (whole !== undefined) return inParts(whole, [])
  const dot = name.indexOf('.')
  const json = dot === -1 ? undefined : own(symbols, name.slice(0, dot))
  return json?.kind === 'json' ? inParts(json, name.slice(dot + 1).split('.')) : undefined
}

function inParts(symbol: FilterSymbol, members: readonly string[]): Found {
  if (symbol.isComputed) return { ...symbol, path: members }
  const [field = '', ...path] = symbol.field.split('.')
  return { ...symbol, field, path: [...path, ...members] }
}

function own(symbols: SymbolTable, name: string): FilterSymbol | undefined {
  return Object.hasOwn(symbols, name) ? symbols[name] : undefined
}
