import { aboutNow, place, stay } from '../navigation/place.ts'
import type { Target } from './bulk.ts'
import { type FilterKeys, problemOf, type Term, termsIn, textOf } from './filter-terms.ts'
import { type TableKind, tableOf } from './table-kinds.ts'

/** The members of an address that say what of a table is shown. */
const MEMBERS = ['filter', 'sort', 'columns', 'offset'] as const

/** The part of a table that the address shows. */
export interface TablePlace {
  readonly table: TableKind
  readonly terms: readonly Term[]
  readonly problem: string | undefined
  readonly sort: string
  readonly columns: readonly string[]
  readonly offset: number
}

/** The part of a table of a kind that is shown, how many entities it has on all pages, and the chosen entities by their ids. */
export interface TableProps {
  readonly kind: string
  readonly shown: TablePlace
  readonly targets: ReadonlyMap<string, Target>
  readonly total: number
}

/** Reads what of the table of a kind the address shows. */
export function tablePlace(kind: string): TablePlace {
  const { about } = place.value
  const table = tableOf(kind)
  const terms = termsIn(about.get('filter') ?? '')
  const chosen = about.get('columns')?.split(' ')
  return {
    table,
    terms,
    problem: firstProblem(terms, table.filters),
    sort: about.get('sort') ?? table.sort,
    columns: Object.keys(table.columns).filter((key) => chosen?.includes(key) ?? table.columns[key]?.isMore !== true),
    offset: Math.max(0, Number(about.get('offset') ?? 0) || 0),
  }
}

function firstProblem(terms: readonly Term[], keys: FilterKeys): string | undefined {
  return terms.flatMap((term) => problemOf(term, keys) ?? [])[0]
}

/** The members of the address that a link to an entity of the table keeps, so that the table stays as it is beside it. */
export function tableMembers(): Record<string, string | undefined> {
  return aboutNow(...MEMBERS)
}

/** Shows another part of the table: the first page, unless a page is given. */
export function showPart(change: Partial<Record<(typeof MEMBERS)[number], string | undefined>>): void {
  const { view, about } = place.peek()
  stay(view, { ...Object.fromEntries(about), offset: undefined, ...change })
}

/** Narrows the table to these conditions. */
export function showTerms(terms: readonly Term[]): void {
  showPart({ filter: terms.map(textOf).join(' ') })
}
