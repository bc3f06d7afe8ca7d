import type { Filter } from '../tree/ast.ts'
import type { ParseContext } from './parse-context.ts'
import { parseOperation } from './parse-operation.ts'

/** What stands before a term: `not`, or a finished term and what joins it. */
type Joint = { readonly kind: 'not' } | { readonly kind: 'and' | 'or'; readonly left: Filter }

/**
 * Reads conditions joined by `and`, `or` and `not`, each of which takes in everything to its right. Chains are read in a
 * loop and folded afterwards, so that a long one needs no deep recursion.
 */
export function parseCondition(context: ParseContext): Filter {
  const joints: Joint[] = []
  for (;;) {
    readNots(context, joints)
    const term = readTerm(context)
    const kind = readJoiner(context)
    if (kind === undefined) return joints.reduceRight(join, term)
    joints.push({ kind, left: term })
  }
}

function readNots({ reader, count }: ParseContext, joints: Joint[]): void {
  while (reader.takeKeyword('not')) {
    count.term()
    reader.expectSpace()
    joints.push({ kind: 'not' })
  }
}

function readTerm(context: ParseContext): Filter {
  const { reader, count } = context
  if (!reader.takeSymbol('(')) return parseOperation(context)
  const condition = count.nested(() => parseCondition(context))
  if (!reader.takeSymbol(')')) throw reader.unexpected('and, or or )')
  return condition
}

function readJoiner({ reader }: ParseContext): 'and' | 'or' | undefined {
  if (reader.takeSpacedKeyword('and')) return 'and'
  return reader.takeSpacedKeyword('or') ? 'or' : undefined
}

function join(right: Filter, joint: Joint): Filter {
  return joint.kind === 'not' ? { kind: 'not', of: right } : { ...joint, right }
}
