import { useState } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import { hrefOfEntity } from '../parts/entity-link.tsx'
import { numberText } from '../parts/words.ts'
import { stateWord, type Traffic } from './use-traffic.ts'

type Flow = Traffic['flows'][number]
type Router = Traffic['routers'][number]

const BOX = { width: 190, height: 34, gap: 10 } as const
const HEAD = 28
const GAP = 100
const COLUMN = BOX.width + GAP
const WIDTH = 2 * COLUMN + BOX.width
/** How far links between routers reach out beside their boxes. */
const BULGE = 60
/** The greatest number of boxes in a column: the boxes with the most traffic, and offline routers. */
export const MOST_IN_COLUMN = 12
const TITLE_LENGTH = 20
/** A longer note takes the room of the title. */
const MOST_DIGITS = 2

type Side = 'identities' | 'edge-routers' | 'services'

interface Box {
  readonly key: string
  readonly kind: string
  readonly side: Side
  readonly id: string
  readonly name: string
  readonly note: string
  readonly isOffline: boolean
  readonly y: number
}

/** The present traffic: identities on the left, routers in the middle with the links between them, services on the right. */
export function TrafficDrawing({ traffic }: { traffic: Traffic }) {
  const [hovered, setHovered] = useState<string>()
  const { boxes, height } = boxesOf(traffic)
  const at = (side: Side, id: string) => boxes.get(keyOf(side, id))
  const flows = traffic.flows.filter(
    ({ identity, service }) => at('identities', identity.id) && at('services', service.id),
  )
  const touches = (flow: Flow) => hovered === undefined || keysOf(flow).includes(hovered)
  const most = Math.max(1, ...flows.map(({ circuits }) => circuits))
  const isLit = (key: string) =>
    hovered === undefined || hovered === key || flows.some((flow) => touches(flow) && keysOf(flow).includes(key))
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing of links
    <svg
      class="traffic"
      viewBox={`-4 0 ${WIDTH + 8} ${height}`}
      role="group"
      aria-label="Who talks to whom now, over which routers"
    >
      {COLUMNS.map(({ title }, number) => (
        <text key={title} class="column" x={number * COLUMN} y="14">
          {title}
        </text>
      ))}
      <g class="links-between">
        {traffic.links.map(({ id, source, target, isDown, latencyMs }) => {
          const [one, other] = [at('edge-routers', source.id), at('edge-routers', target.id)]
          if (!one || !other) return null
          const [x, y1, y2] = [COLUMN + BOX.width, one.y + BOX.height / 2, other.y + BOX.height / 2]
          return (
            <path
              key={id}
              class={`router-link${isDown ? ' is-down' : ''}`}
              d={`M${x} ${y1}C${x + BULGE} ${y1} ${x + BULGE} ${y2} ${x} ${y2}`}
            >
              <title>
                {visibleLine(
                  `${source.name} and ${target.name}${latencyMs === null ? '' : `, ${numberText(latencyMs)} ms`}`,
                )}
              </title>
            </path>
          )
        })}
      </g>
      {flows.map((flow) => (
        <FlowLines
          key={`${flow.identity.id} ${flow.service.id} ${flow.routers.map(({ id }) => id)}`}
          flow={flow}
          at={at}
          share={flow.circuits / most}
          isLit={touches(flow)}
        />
      ))}
      {[...boxes.values()].map((box) => (
        <TrafficBox
          key={box.key}
          box={box}
          isDim={!isLit(box.key)}
          onHover={(isOver) => setHovered(isOver ? box.key : undefined)}
        />
      ))}
    </svg>
  )
}

interface FlowProps {
  readonly flow: Flow
  readonly at: (side: Side, id: string) => Box | undefined
  readonly share: number
  readonly isLit: boolean
}

function FlowLines({ flow: { identity, service, routers }, at, share, isLit }: FlowProps) {
  const stops = [
    at('identities', identity.id),
    ...[routers[0], routers.at(-1)].map((router) => router && at('edge-routers', router.id)),
    at('services', service.id),
  ]
  const [from, first, last, to] = stops
  if (!from || !to) return null
  const width = 1.5 + 4.5 * share
  const curve = (x1: number, one: Box, x2: number, other: Box) => {
    const [y1, y2] = [one.y + BOX.height / 2, other.y + BOX.height / 2]
    return `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`
  }
  const middle = COLUMN + BOX.width
  const parts =
    first && last
      ? [curve(BOX.width, from, COLUMN, first), curve(middle, last, 2 * COLUMN, to)]
      : [curve(BOX.width, from, 2 * COLUMN, to)]
  return (
    <>
      {parts.map((d) => (
        <path key={d} class={`flow${isLit ? '' : ' is-dim'}`} d={d} stroke-width={width} />
      ))}
    </>
  )
}

function TrafficBox({ box, isDim, onHover }: { box: Box; isDim: boolean; onHover: (isOver: boolean) => void }) {
  const { kind, side, id, name, note, isOffline, y } = box
  const whole = visibleLine(name)
  const most = TITLE_LENGTH - Math.max(0, note.length - MOST_DIGITS)
  const title = whole.length > most ? `${whole.slice(0, most - 1)}…` : whole
  const x = COLUMNS.findIndex((column) => column.side === side) * COLUMN
  return (
    <a
      href={hrefOfEntity(kind, id)}
      class={`group group-${side}${isDim ? ' is-dim' : ''}${isOffline ? ' is-offline' : ''}`}
      aria-label={`${title} ${note}`}
      aria-description={whole}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
    >
      <g transform={`translate(${x} ${y})`}>
        <rect width={BOX.width} height={BOX.height} rx="7" />
        <rect class="group-mark" width="4" height={BOX.height - 12} x="7" y="6" rx="2" />
        <text class="group-title" x="19" y="22">
          {title}
        </text>
        <text class="group-count" x={BOX.width - 10} y="22">
          {` ${note}`}
        </text>
      </g>
    </a>
  )
}

const COLUMNS: readonly { readonly side: Side; readonly title: string }[] = [
  { side: 'identities', title: 'Who talks' },
  { side: 'edge-routers', title: 'Routers' },
  { side: 'services', title: 'To which services' },
]

/** The key of a box. A router that tunnels has an identity of the same id, which is another box. */
function keyOf(side: Side, id: string): string {
  return `${side} ${id}`
}

function keysOf({ identity, service, routers }: Flow): readonly string[] {
  const stops = routers.map(({ id }) => keyOf('edge-routers', id))
  return [keyOf('identities', identity.id), ...stops, keyOf('services', service.id)]
}

/** The boxes by the key of their entities, each column with the most traffic first. */
function boxesOf({ flows, routers }: Traffic): { readonly boxes: ReadonlyMap<string, Box>; readonly height: number } {
  const used = (of: (flow: Flow) => Flow['identity']) => {
    const sums = new Map<string, { id: string; name: string; circuits: number }>()
    for (const flow of flows) {
      const { id, name } = of(flow)
      const known = sums.get(id) ?? { id, name: name ?? id, circuits: 0 }
      sums.set(id, { ...known, circuits: known.circuits + flow.circuits })
    }
    return [...sums.values()].sort((a, b) => b.circuits - a.circuits)
  }
  const asBox = (kind: string, side: Side) => (one: { id: string; name: string; circuits: number }) => ({
    key: keyOf(side, one.id),
    kind,
    side,
    id: one.id,
    name: one.name,
    note: numberText(one.circuits),
    isOffline: false,
  })
  const columns = [
    used(({ identity }) => identity).map(asBox('identities', 'identities')),
    shownRouters(routers).map((router) => ({
      ...asBox(router.kind, 'edge-routers')(router),
      note: stateWord(router) === 'offline' ? 'offline' : numberText(router.circuits),
      isOffline: stateWord(router) === 'offline',
    })),
    used(({ service }) => service).map(asBox('services', 'services')),
  ].map((column) => column.slice(0, MOST_IN_COLUMN))
  const rows = Math.max(1, ...columns.map(({ length }) => length))
  const step = BOX.height + BOX.gap
  const placed = columns.flatMap((column) => {
    const top = HEAD + ((rows - column.length) * step) / 2
    return column.map((box, row): [string, Box] => [box.key, { ...box, y: top + row * step }])
  })
  return { boxes: new Map(placed), height: HEAD + rows * step }
}

/** Boxes with traffic first, then offline routers, then idle boxes. */
function shownRouters(routers: readonly Router[]): readonly Router[] {
  const need = ({ circuits, isOnline }: Router) => (circuits > 0 ? 0 : isOnline ? 2 : 1)
  return routers.toSorted((a, b) => need(a) - need(b) || b.circuits - a.circuits)
}
