import type { z } from 'zod'
import type { SymbolTable } from '../../domain/filter/index.ts'

/** What tells nothing of a record. */
const OF_EVERYTHING: readonly string[] = ['isSystem']

/**
 * The symbols of a list that shows less of each record than there is: only what is shown may be asked for, as whether a
 * filter finds a record would tell the rest. `besides` names symbols that say no more than another shown member.
 */
export function shownSymbols(
  symbols: SymbolTable,
  { shape }: z.ZodObject,
  besides: readonly string[] = [],
): SymbolTable {
  const isShown = (member: string) => Object.hasOwn(shape, member)
  const shown = Object.entries(symbols).filter(([name, { field }]) => {
    const [root = ''] = field.split('.')
    return isShown(root) || OF_EVERYTHING.includes(name) || besides.includes(name)
  })
  return Object.fromEntries(shown)
}
