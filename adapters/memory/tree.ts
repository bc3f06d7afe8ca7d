import sortedBtree from 'sorted-btree'

/** A sorted map whose `clone()` costs nothing: both copies share their nodes until one of them is changed. */
export type Tree<K, V> = sortedBtree.default<K, V>

// Node gives an ES module the whole CommonJS module; bundlers and test runners may give its default export instead.
const BTree = 'default' in sortedBtree ? sortedBtree.default : sortedBtree

/** An empty tree whose keys are ordered by `compare`. */
export function createTree<K, V>(compare: (a: K, b: K) => number): Tree<K, V> {
  return new BTree<K, V>(undefined, compare)
}
