import { useMemo } from 'preact/hooks'
import type { Edge, Graph, ShownGroup } from './graph.ts'
import { type Layout, layOut } from './layout.ts'

export const BOX_HEIGHT = 32

/** A graph with the place of each group; undefined until it is laid out for the first time. */
export interface DrawnGraph {
  readonly groups: readonly ShownGroup[]
  readonly edges: readonly Edge[]
  readonly layout: Layout
}

/** Lays a graph out again whenever it changes. */
export function useLayout(graph: Graph | undefined): DrawnGraph | undefined {
  return useMemo(() => {
    if (graph === undefined) return undefined
    const { groups, edges } = graph
    const boxes = groups.map(({ key, kind, count }) => ({
      key,
      kind,
      height: BOX_HEIGHT,
      weight: Math.log2(1 + count),
    }))
    const lines = edges.map(({ from, to }) => ({ from, to }))
    return { groups, edges, layout: layOut(boxes, lines) }
  }, [graph])
}
