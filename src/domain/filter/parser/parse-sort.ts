import type { OrderBy } from '../tree/ast.ts'
import { FilterError } from '../tree/filter-error.ts'
import type { ParseContext } from './parse-context.ts'
import { readSymbol } from './parse-operand.ts'

const MAX_SORT_FIELDS = 5

/**
 * Reads `name asc, cost desc, …`; ascending unless it says otherwise. Fields after the fifth are ignored. Errors: `sort`
 * for a symbol that has no order (a set, something inside of a field or of another entity), `unknown-symbol`, `syntax`.
 */
export function readOrder(context: Pick<ParseContext, 'reader' | 'symbols' | 'linked' | 'count'>): readonly OrderBy[] {
  const { reader } = context
  const orderBy: OrderBy[] = []
  do {
    const { name, field, kind, path, via, at } = readSymbol(context, 'a symbol to sort by')
    const isOrdered = kind !== 'set' && kind !== 'json' && path.length === 0 && via.length === 0
    if (!isOrdered) {
      throw new FilterError(
        'sort',
        `invalid sort field: ${name} at column: ${at} (expected a symbol of a single value)`,
      )
    }
    const isDescending = reader.takeKeyword('desc')
    if (!isDescending) reader.takeKeyword('asc')
    orderBy.push({ field, kind, direction: isDescending ? 'desc' : 'asc' })
  } while (reader.takeSymbol(','))
  return orderBy.slice(0, MAX_SORT_FIELDS)
}
