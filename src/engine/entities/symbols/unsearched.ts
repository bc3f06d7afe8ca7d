import { both, type Filter } from '../../../domain/filter/index.ts'
import type { Resource } from '../../../resources/declaration/resource.ts'

/** A filter in two parts that hold together: what a storage answers, and what is asked of each record that it found. */
interface Parts {
  readonly searched: { readonly where?: Filter }
  readonly rest: Filter
}

/** Takes the conditions on members that no storage searches out of a filter; `undefined` when there are none. */
export function withoutUnsearched(resource: Resource, filter: Filter | undefined): Parts | undefined {
  const unsearched = resource.unsearchedJson ?? []
  if (filter === undefined || unsearched.length === 0 || !names(filter, unsearched)) return undefined
  let searched: Filter | undefined
  let rest: Filter = { kind: 'all' }
  for (const term of terms(filter)) {
    if (names(term, unsearched)) rest = { kind: 'and', left: rest, right: term }
    else searched = both(searched, term)
  }
  return { searched: { ...(searched && { where: searched }) }, rest }
}

function terms(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? [...terms(filter.left), ...terms(filter.right)] : [filter]
}

function names(filter: Filter, fields: readonly string[]): boolean {
  switch (filter.kind) {
    case 'all':
    case 'isEmpty':
      return false
    case 'not':
      return names(filter.of, fields)
    case 'and':
    case 'or':
      return names(filter.left, fields) || names(filter.right, fields)
    default:
      return filter.operand.kind === 'json' && fields.includes(filter.operand.field)
  }
}
