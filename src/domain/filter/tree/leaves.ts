import type { Filter } from './ast.ts'

/** A condition without `and`, `or` and `not`. */
export type Leaf = Exclude<Filter, { readonly kind: 'all' | 'not' | 'and' | 'or' }>

/** The field that a leaf is about. */
export function fieldOf(leaf: Leaf): string {
  return leaf.kind === 'isEmpty' ? leaf.field : leaf.operand.field
}

/** What a leaf asks of the elements of its field. */
export function whereOf(leaf: Leaf): Filter | undefined {
  if (leaf.kind === 'isEmpty') return leaf.where
  return leaf.operand.kind === 'count' ? leaf.operand.where : undefined
}

/** The leaf that asks something else of the elements of its field. */
export function withWhere(leaf: Leaf, where: Filter): Leaf {
  if (leaf.kind === 'isEmpty') return { ...leaf, where }
  return leaf.operand.kind === 'count' ? { ...leaf, operand: { ...leaf.operand, where } } : leaf
}

/** The leaves of a filter, from left to right. */
export function leavesOf(filter: Filter): readonly Leaf[] {
  switch (filter.kind) {
    case 'all':
      return []
    case 'not':
      return leavesOf(filter.of)
    case 'and':
    case 'or':
      return [...leavesOf(filter.left), ...leavesOf(filter.right)]
    default:
      return [filter]
  }
}
