import { useEffect, useState } from 'preact/hooks'
import { askLayout } from './ask-layout.ts'
import type { Edge, Graph, ShownGroup } from './graph.ts'
import type { Layout } from './layout.ts'

export const BOX_HEIGHT = 32

/** A graph with the place of each group; undefined until it is laid out for the first time. */
export interface DrawnGraph {
  readonly groups: readonly ShownGroup[]
  readonly edges: readonly Edge[]
  readonly layout: Layout
}

/** Lays a graph out again whenever it changes, and keeps the drawing before until then. */
export function useLayout(graph: Graph | undefined): DrawnGraph | undefined {
  const [drawn, setDrawn] = useState<DrawnGraph>()
  useEffect(() => {
    if (graph === undefined) return
    let isWanted = true
    const { groups, edges } = graph
    const boxes = groups.map(({ key, kind, count }) => ({
      key,
      kind,
      height: BOX_HEIGHT,
      weight: Math.log2(1 + count),
    }))
    const lines = edges.map(({ from, to }) => ({ from, to }))
    void askLayout(boxes, lines).then((layout) => isWanted && setDrawn({ groups, edges, layout }))
    return () => {
      isWanted = false
    }
  }, [graph])
  return drawn
}
