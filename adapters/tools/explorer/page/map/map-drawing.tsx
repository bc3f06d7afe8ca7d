import { useMemo, useState } from 'preact/hooks'
import { grouped } from '../../../../../src/base/collections.ts'
import { visibleLine } from '../../../../../src/base/text.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { numberText } from '../parts/words.ts'
import { MapBox } from './map-box.tsx'
import {
  type ColumnName,
  isSame,
  layoutOf,
  litBy,
  type MapEdge,
  type MapLayout,
  type MapNode,
  type Spot,
} from './map-layout.ts'
import type { ShownMap, Side } from './read-map.ts'

const HEAD = 30
/** Sizes by the number of rows: many rows are lower. */
const ROWS = { few: { height: 40, gap: 8 }, many: { height: 26, gap: 4 } } as const
const MANY_ROWS = 14
/** The widths of boxes and of the room between them, by the number of columns; less room where the drawing has less, so that it stays legible. */
const WIDTHS = {
  2: { wide: { box: 270, gap: 400 }, tight: { box: 240, gap: 200 } },
  3: { wide: { box: 260, gap: 190 }, tight: { box: 220, gap: 75 } },
} as const
const TIGHT = 1000
/** The thinnest line, and the extra width of a line that stands for all pairs. */
const THIN = 1
const THICKER = 2
/** The part of the height of a box within which lines begin and end. */
const PORTS = 0.75

/** A group or an entity of one side, by its place. */
export interface Choice {
  readonly side: Side
  readonly place: number
}

/** A map, and the group of it that is looked at. */
export interface MapProps {
  readonly map: ShownMap
  readonly chosen: Choice | undefined
  readonly onChoose: (choice: Choice | undefined) => void
  /** Opens the page of a policy. */
  readonly onPolicy?: (id: string) => void
}

const HEADS: Readonly<Record<ColumnName, string>> = {
  identities: 'Identities',
  policies: 'Service policies',
  services: 'Services',
}

/** Identities on the left, services on the right, and a line where the identities may dial or bind the services. */
export function MapDrawing({ map, chosen, onChoose, onPolicy }: MapProps) {
  const [pointed, setPointed] = useState<Spot | MapEdge>()
  const layout = useMemo(() => layoutOf(map), [map])
  // Lines that are drawn only on demand take no room from the others, and move none.
  const ports = useMemo(
    () => new Map([...portsOf(layout.edges, layout.rows), ...portsOf([...layout.drawn], layout.rows)]),
    [layout],
  )
  const { columns, edges, drawn, rows } = layout
  const isTight = useIsNarrow(TIGHT)
  const hasPolicies = columns.length > 2
  const { box, gap } = WIDTHS[hasPolicies ? 3 : 2][isTight || (hasPolicies && chosen) ? 'tight' : 'wide']
  const rowCount = Math.max(...columns.map(({ nodes }) => nodes.length))
  const size = rowCount > MANY_ROWS ? ROWS.many : ROWS.few
  const step = size.height + size.gap
  const xOf = (column: ColumnName) => columns.findIndex(({ name }) => name === column) * (box + gap)
  const yOf = ({ column, place }: Spot) => {
    const own = rows.get(column) ?? []
    // A short column is as high as the longest: its boxes stand beside what they are linked with.
    const row = (((own[place] ?? 0) + 0.5) * rowCount) / Math.max(1, own.length) - 0.5
    return HEAD + row * step
  }
  // The chosen box stays lit while the pointer passes over others: the user reads its lines.
  const centre = chosen ? { column: chosen.side, place: chosen.place } : pointed
  const lit = centre && litBy(edges, centre)
  const isLit = (spot: Spot) =>
    lit === undefined ||
    (centre && 'column' in centre && isSame(centre, spot)) ||
    [...lit].some(({ left, right }) => isSame(left, spot) || isSame(right, spot))
  // A lit box says which part of the centre reaches it.
  const wordsOf = (spot: Spot) =>
    centre && 'column' in centre && lit
      ? [...lit].find(
          ({ left, right }) =>
            (isSame(left, spot) && isSame(right, centre)) || (isSame(right, spot) && isSame(left, centre)),
        )?.words
      : undefined
  const portOf = (edge: MapEdge, end: 'left' | 'right') =>
    yOf(edge[end]) + size.height * (0.5 + PORTS * ((ports.get(edge)?.[end] ?? 0.5) - 0.5))
  const shown = lit ? edges.filter((edge) => lit.has(edge) || drawn.has(edge)) : edges.filter((edge) => drawn.has(edge))
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing with buttons inside
    <svg
      class={hasPolicies ? 'map has-policies' : 'map'}
      viewBox={`-4 0 ${columns.length * (box + gap) - gap + 8} ${HEAD + rowCount * step}`}
      role="group"
      aria-label={`Identities, and the services that they may ${map.type.toLowerCase()}`}
    >
      <defs>
        {columns.slice(1).map(({ name }, at) => (
          <linearGradient
            key={name}
            id={`reach-hue-${at}`}
            gradientUnits="userSpaceOnUse"
            x1={at * (box + gap) + box}
            x2={(at + 1) * (box + gap)}
            y1="0"
            y2="0"
          >
            <stop class={`hue-${columns[at]?.name}`} offset="0.1" />
            <stop class={`hue-${name}`} offset="0.9" />
          </linearGradient>
        ))}
      </defs>
      {columns.map(({ name }) => (
        <text key={name} class="column" x={xOf(name)} y="16">
          {HEADS[name]}
        </text>
      ))}
      <g class={lit ? 'edges has-lit' : 'edges'}>
        {shown
          .toSorted((a, b) => Number(lit?.has(a) ?? 0) - Number(lit?.has(b) ?? 0))
          .map((edge) => (
            <Line
              key={`${edge.left.column} ${edge.left.place} ${edge.right.place}`}
              edge={edge}
              hue={columns.findIndex(({ name }) => name === edge.left.column)}
              ends={[xOf(edge.left.column) + box, portOf(edge, 'left'), xOf(edge.right.column), portOf(edge, 'right')]}
              isLit={lit?.has(edge) === true}
              onPoint={setPointed}
            />
          ))}
      </g>
      {columns.map(({ name, nodes }) =>
        nodes.map((node, place) => {
          const spot = { column: name, place }
          const isChosen = chosen?.side === name && chosen.place === place
          return (
            <MapBox
              key={`${name} ${node.key}`}
              column={name}
              node={node}
              x={xOf(name)}
              y={yOf(spot)}
              width={box}
              height={size.height}
              note={name === 'policies' ? undefined : wordsOf(spot)}
              isChosen={isChosen}
              isDim={!isLit(spot)}
              spoken={spokenOf(layout, node, spot)}
              onChoose={() =>
                name === 'policies' ? onPolicy?.(node.key) : onChoose(isChosen ? undefined : { side: name, place })
              }
              onPoint={(isOver) => setPointed(isOver ? spot : undefined)}
            />
          )
        }),
      )}
    </svg>
  )
}

interface LineProps {
  readonly edge: MapEdge
  /** The place of its left column. */
  readonly hue: number
  readonly ends: readonly [x1: number, y1: number, x2: number, y2: number]
  readonly isLit: boolean
  readonly onPoint: (edge: MapEdge | undefined) => void
}

/** The thicker, the larger the share of all pairs; broken where every policy asks for posture. A wider line around it takes the pointer. */
function Line({ edge, hue, ends: [x1, y1, x2, y2], isLit, onPoint }: LineProps) {
  // A level line is a box without height, which no gradient fills.
  const end = y1 === y2 ? y2 + 0.01 : y2
  const bend = (x2 - x1) / 2
  const d = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${end} ${x2} ${end}`
  return (
    <g onPointerMove={() => onPoint(edge)} onPointerLeave={() => onPoint(undefined)}>
      <path
        class={`edge edge-map edge-hue-${hue} ${isLit ? 'is-lit' : 'is-plain'}${edge.isGuarded ? ' is-guarded' : ''}`}
        d={d}
        stroke-width={widthOf(edge)}
      />
      <path class="edge-near" d={d} />
    </g>
  )
}

function widthOf({ share }: MapEdge): number {
  return THIN + THICKER * share
}

/** Where lines leave and reach the boxes, 0 to 1 of the height: side by side, in the order of their other ends. */
function portsOf(
  edges: readonly MapEdge[],
  rows: MapLayout['rows'],
): ReadonlyMap<MapEdge, { left: number; right: number }> {
  const ports = new Map(edges.map((edge) => [edge, { left: 0.5, right: 0.5 }]))
  for (const [end, other] of [
    ['left', 'right'],
    ['right', 'left'],
  ] as const) {
    const rowOf = (edge: MapEdge) => rows.get(edge[other].column)?.[edge[other].place] ?? 0
    const groups = grouped(edges, (edge) => `${edge[end].column} ${edge[end].place}`)
    for (const own of groups.values()) {
      for (const [at, edge] of own.toSorted((a, b) => rowOf(a) - rowOf(b)).entries()) {
        const port = ports.get(edge)
        if (port) port[end] = (at + 0.5) / own.length
      }
    }
  }
  return ports
}

function spokenOf({ edges }: MapLayout, { title, within, count }: MapNode, spot: Spot): string {
  const linked = edges.filter(({ left, right }) => isSame(left, spot) || isSame(right, spot)).length
  const { column } = spot
  const words = column === 'identities' ? 'reaches' : column === 'services' ? 'is reached by' : 'selects'
  const whole = [title, within, count !== undefined && `${numberText(count)} ${column}`].filter(Boolean).join(', ')
  return visibleLine(`${whole}, ${words} ${linked} boxes of the drawing`)
}
