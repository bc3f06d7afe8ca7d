import type { Edge } from './graph.ts'
import { BOX_WIDTH, type Placed } from './layout.ts'
import { BOX_HEIGHT } from './use-layout.ts'

interface Props {
  readonly edge: Edge
  readonly places: ReadonlyMap<string, Placed>
  readonly state: 'plain' | 'lit' | 'dim'
}

/** A line from group to group, the thicker the more pairs it stands for. */
export function EdgePath({ edge, places, state }: Props) {
  const [from, to] = [places.get(edge.from), places.get(edge.to)]
  if (from === undefined || to === undefined) return null
  const [left, right] = from.x <= to.x ? [from, to] : [to, from]
  const [x1, y1, x2, y2] = [left.x + BOX_WIDTH, left.y + BOX_HEIGHT / 2, right.x, right.y + BOX_HEIGHT / 2]
  const bend = (x2 - x1) * 0.5
  const width = Math.min(7, 1 + Math.log10(1 + edge.pairs) * 0.9)
  return (
    <path
      class={`edge edge-${edge.type.toLowerCase()} is-${state}`}
      d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
      stroke-width={state === 'lit' ? width + 0.5 : width}
    />
  )
}
