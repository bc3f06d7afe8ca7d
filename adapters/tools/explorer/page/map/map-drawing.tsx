import { useMemo, useState } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import { numberText } from '../parts/number-text.ts'
import { type MapGroup, type MapLink, type ShownMap, type Side, shareOf, TITLE_LENGTH } from './read-map.ts'

const BOX = { width: 270, height: 40, gap: 8 } as const
const HEAD = 30
const GAP = 400
/** The thinnest line, and the extra width of a line that stands for all pairs. */
const THIN = 1
const THICKER = 6
/** Lines begin and end within the middle of a box, of this height. */
const PORTS = 30
const WIDTH = 2 * BOX.width + GAP

/** A group of one side, by its place. */
export interface Choice {
  readonly side: Side
  readonly place: number
}

/** A map, and the group of it that is looked at. */
export interface MapProps {
  readonly map: ShownMap
  readonly chosen: Choice | undefined
  readonly onChoose: (choice: Choice | undefined) => void
}

/** Groups of identities on the left, groups of services on the right, and a line where the identities may dial or bind the services. */
export function MapDrawing({ map, chosen, onChoose }: MapProps) {
  const [hovered, setHovered] = useState<Choice>()
  // The chosen group stays lit while the pointer passes over others: the user reads its lines.
  const centre = chosen ?? hovered
  const orders = useMemo(() => ordersOf(map), [map])
  const rows = Math.max(orders.identities.length, orders.services.length)
  const height = HEAD + rows * (BOX.height + BOX.gap)
  const yOf = (side: Side, place: number) => {
    const order = orders[side]
    const top = HEAD + ((rows - order.length) * (BOX.height + BOX.gap)) / 2
    return top + order.indexOf(place) * (BOX.height + BOX.gap)
  }
  const touches = ({ from, to }: MapLink) =>
    centre !== undefined && (centre.side === 'identities' ? from : to) === centre.place
  const links = centre === undefined ? map.links.filter((link) => map.drawn.has(link)) : map.links.filter(touches)
  const ports = useMemo(() => portsOf(map, orders), [map, orders])
  const isLit = (side: Side, place: number) =>
    centre === undefined ||
    (side === centre.side
      ? place === centre.place
      : links.some(({ from, to }) => place === (side === 'identities' ? from : to)))
  const boxOf = (side: Side) => (group: MapGroup, place: number) => (
    <MapBox
      key={`${side} ${group.scope}`}
      side={side}
      group={group}
      share={group.count / Math.max(1, map.sides[side].count)}
      x={side === 'identities' ? 0 : BOX.width + GAP}
      y={yOf(side, place)}
      isChosen={chosen?.side === side && chosen.place === place}
      isDim={!isLit(side, place)}
      spoken={spokenOf(map, side, place)}
      onChoose={() => onChoose(chosen?.side === side && chosen.place === place ? undefined : { side, place })}
      onHover={(isOver) => setHovered(isOver ? { side, place } : undefined)}
    />
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing with buttons inside
    <svg
      class="map"
      viewBox={`-4 0 ${WIDTH + 8} ${height}`}
      role="group"
      aria-label={`Who may ${map.type.toLowerCase()} what: groups of identities and of services`}
    >
      <defs>
        <linearGradient id="reach-hue" gradientUnits="userSpaceOnUse" x1={BOX.width} x2={BOX.width + GAP} y1="0" y2="0">
          <stop class="hue-from" offset="0.1" />
          <stop class="hue-to" offset="0.9" />
        </linearGradient>
      </defs>
      <text class="column" x="0" y="16">
        Identities
      </text>
      <text class="column" x={BOX.width + GAP} y="16">
        Services
      </text>
      <g class="edges">
        {links.map((link) => (
          <Line
            key={`${link.from} ${link.to}`}
            link={link}
            map={map}
            y1={yOf('identities', link.from) + BOX.height / 2 + (ports.get(link)?.from ?? 0)}
            y2={yOf('services', link.to) + BOX.height / 2 + (ports.get(link)?.to ?? 0)}
            isLit={centre !== undefined}
          />
        ))}
      </g>
      {map.sides.identities.groups.map(boxOf('identities'))}
      {map.sides.services.groups.map(boxOf('services'))}
    </svg>
  )
}

interface LineProps {
  readonly link: MapLink
  readonly map: ShownMap
  readonly y1: number
  readonly y2: number
  readonly isLit: boolean
}

/** The thicker, the larger the share of all pairs; broken where every policy asks for posture. */
function Line({ link, map, y1, y2, isLit }: LineProps) {
  const [x1, x2] = [BOX.width, BOX.width + GAP]
  // A level line is a box without height, which no gradient fills.
  const end = y1 === y2 ? y2 + 0.01 : y2
  return (
    <path
      class={`edge edge-map ${isLit ? 'is-lit' : 'is-plain'}${link.isGuarded ? ' is-guarded' : ''}`}
      d={`M${x1} ${y1}C${x1 + GAP / 2} ${y1} ${x2 - GAP / 2} ${end} ${x2} ${end}`}
      stroke-width={widthOf(map, link)}
    />
  )
}

function widthOf(map: ShownMap, link: MapLink): number {
  return THIN + THICKER * shareOf(map, link)
}

/** Where lines leave and reach the boxes, from the middle of each: side by side, in the order of their other ends. */
function portsOf(
  map: ShownMap,
  orders: Readonly<Record<Side, readonly number[]>>,
): ReadonlyMap<MapLink, { readonly from: number; readonly to: number }> {
  const ports = new Map<MapLink, { from: number; to: number }>(map.links.map((link) => [link, { from: 0, to: 0 }]))
  for (const end of ['from', 'to'] as const) {
    const [side, other, far] = end === 'from' ? ENDS.from : ENDS.to
    for (const place of orders[side]) {
      const links = map.links
        .filter((link) => link[end] === place)
        .toSorted((a, b) => orders[other].indexOf(a[far]) - orders[other].indexOf(b[far]))
      const whole = links.reduce((sum, link) => sum + widthOf(map, link) + 1, 0)
      const scale = Math.min(1, PORTS / whole)
      let at = (-whole * scale) / 2
      for (const link of links) {
        const width = (widthOf(map, link) + 1) * scale
        const port = ports.get(link)
        if (port) port[end] = at + width / 2
        at += width
      }
    }
  }
  return ports
}

const ENDS = {
  from: ['identities', 'services', 'to'],
  to: ['services', 'identities', 'from'],
} as const

interface BoxProps {
  readonly side: Side
  readonly group: MapGroup
  /** Which part of its side it is, 0 to 1. */
  readonly share: number
  readonly x: number
  readonly y: number
  readonly isChosen: boolean
  readonly isDim: boolean
  readonly spoken: string
  readonly onChoose: () => void
  readonly onHover: (isOver: boolean) => void
}

function MapBox({ side, group, share, x, y, isChosen, isDim, spoken, onChoose, onHover }: BoxProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    onChoose()
  }
  const whole = visibleLine(group.title)
  const title = whole.length > TITLE_LENGTH ? `${whole.slice(0, TITLE_LENGTH - 1)}…` : whole
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no button elements
    <g
      class={`group group-${side}${isChosen ? ' is-selected' : ''}${isDim ? ' is-dim' : ''}`}
      transform={`translate(${x} ${y})`}
      role="button"
      tabindex={0}
      aria-pressed={isChosen}
      aria-label={`${title} ${numberText(group.count)}`}
      aria-description={spoken}
      data-key={group.scope}
      onClick={onChoose}
      onKeyDown={onKeyDown}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
    >
      <rect width={BOX.width} height={BOX.height} rx="7" />
      <rect class="group-mark" width="4" height={BOX.height - 14} x="7" y="7" rx="2" />
      <rect
        class="group-share"
        height="3"
        width={Math.max(2, (BOX.width - 38) * share)}
        x="19"
        y={BOX.height - 7}
        rx="1.5"
      />
      <text class="group-title" x="19" y={group.within === '' ? 22 : 16}>
        {title}
      </text>
      {group.within !== '' && (
        <text class="group-within" x="19" y="29">
          of {visibleLine(group.within)}
        </text>
      )}
      <text class="group-count" x={BOX.width - 13} y="22">
        {` ${numberText(group.count)}`}
      </text>
    </g>
  )
}

function spokenOf(map: ShownMap, side: Side, place: number): string {
  const group = map.sides[side].groups[place]
  const others = map.links.filter(({ from, to }) => (side === 'identities' ? from : to) === place).length
  const words = side === 'identities' ? 'reaches' : 'is reached by'
  const within = group?.within ? ` of ${group.within}` : ''
  return visibleLine(`${group?.title}${within}, ${numberText(group?.count ?? 0)} ${side}, ${words} ${others} groups`)
}

/** The order of groups: next to the groups that they reach, so that few lines cross; a rest last. */
function ordersOf({ sides, links }: ShownMap): Readonly<Record<Side, readonly number[]>> {
  const orders = { identities: [...sides.identities.groups.keys()], services: [...sides.services.groups.keys()] }
  for (const side of ['services', 'identities', 'services', 'identities'] as const) {
    const other = side === 'services' ? 'identities' : 'services'
    const mean = (place: number) => {
      const linked = links.filter(({ from, to }) => (side === 'identities' ? from : to) === place)
      const weight = linked.reduce((sum, { pairs }) => sum + pairs, 0)
      const at = ({ from, to }: MapLink) => orders[other].indexOf(side === 'identities' ? to : from)
      return weight === 0 ? orders[other].length : linked.reduce((sum, link) => sum + at(link) * link.pairs, 0) / weight
    }
    const isRest = (place: number) => sides[side].groups[place]?.isRest === true
    orders[side].sort((a, b) => Number(isRest(a)) - Number(isRest(b)) || mean(a) - mean(b))
  }
  return orders
}
