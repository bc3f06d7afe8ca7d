import { matches } from '../evaluation/matches.ts'
import type { Filter } from '../tree/ast.ts'
import type { Link } from '../tree/symbols.ts'

/**
 * A condition on entities that links lead to, as a condition on the record that they lead from: that some of them fulfil
 * it (`anyOf`), or that all do.
 */
export function throughLinks(links: readonly Link[], quantifier: 'anyOf' | 'allOf', condition: Filter): Filter {
  return links.reduceRight((where, { field, isSet }) => {
    // A single entity that is missing is compared like one that holds nothing, so it is asked which way that goes.
    const isForAll = isSet ? quantifier === 'allOf' : matches(where, {})
    return isForAll ? noneIn(field, opposite(where)) : opposite(noneIn(field, where))
  }, condition)
}

/** The condition that no entity at the end of links has an element in a set. */
export function emptyThroughLinks(links: readonly Link[], empty: Filter): Filter {
  return links.length === 0 ? empty : opposite(throughLinks(links, 'anyOf', opposite(empty)))
}

function noneIn(field: string, where: Filter): Filter {
  return { kind: 'isEmpty', field, where }
}

function opposite(filter: Filter): Filter {
  return { kind: 'not', of: filter }
}
