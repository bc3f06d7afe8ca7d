import { useState } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import { Card } from '../parts/card.tsx'
import { hrefOfEntity } from '../parts/entity-link.tsx'
import { countedName, latencyText, numberText, rateText } from '../parts/words.ts'
import { stateWord, type Traffic } from './use-traffic.ts'

type Link = Traffic['links'][number]
type Router = Traffic['routers'][number]

/** As many routers as names fit around a circle: those with links first. */
const MOST_ROUTERS = 24
const SIZE = { width: 620, rim: 46, dot: 8, row: 30 } as const
const TITLE_LENGTH = 18

/** Routers around a circle with the links between them; the table beside it says the same in words. Nothing without a link. */
export function RouterMap({ traffic }: { traffic: Traffic }) {
  const [pointed, setPointed] = useState<string>()
  const { links, routers } = traffic
  if (links.length === 0) return null
  const ends = new Set(links.flatMap(({ source, target }) => [source.id, target.id]))
  const shown = routers
    .toSorted((a, b) => Number(ends.has(b.id)) - Number(ends.has(a.id)) || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_ROUTERS)
  const height = Math.max(240, Math.min(560, shown.length * SIZE.row + 2 * SIZE.rim))
  const places = new Map(shown.map(({ id }, place) => [id, placeOf(place, shown.length, height)]))
  const most = Math.max(1, ...links.map(({ circuits }) => circuits))
  const isLit = (...ids: readonly string[]) => pointed === undefined || ids.includes(pointed)
  const drawn = links.filter(({ source, target }) => places.has(source.id) && places.has(target.id))
  return (
    <Card title="Map of routers" class="scrolls">
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing of links */}
      <svg
        class="traffic router-map"
        viewBox={`0 0 ${SIZE.width} ${height}`}
        role="group"
        aria-label="Routers and links"
      >
        {drawn.map((link) => (
          <LinkLine
            key={link.id}
            link={link}
            from={places.get(link.source.id)}
            to={places.get(link.target.id)}
            share={link.circuits / most}
            isLit={isLit(link.source.id, link.target.id)}
          />
        ))}
        {shown.map((router) => (
          <RouterDot
            key={router.id}
            router={router}
            at={places.get(router.id)}
            isLit={isLit(router.id, ...neighboursOf(drawn, router.id))}
            onPoint={(isOver) => setPointed(isOver ? router.id : undefined)}
          />
        ))}
      </svg>
      {routers.length > shown.length && (
        <p class="muted">
          {numberText(shown.length)} of {numberText(traffic.counts.routers)} routers are drawn: those with links first.
        </p>
      )}
    </Card>
  )
}

interface Point {
  readonly x: number
  readonly y: number
}

/** Two routers stand left and right; more of them around an ellipse, from the left on. */
function placeOf(place: number, count: number, height: number): Point {
  const angle = Math.PI + (2 * Math.PI * place) / count
  return {
    x: SIZE.width / 2 + Math.cos(angle) * (SIZE.width / 2 - 150),
    y: height / 2 + Math.sin(angle) * (height / 2 - SIZE.rim),
  }
}

function neighboursOf(links: readonly Link[], id: string): readonly string[] {
  return links.flatMap(({ source, target }) => (source.id === id ? [target.id] : target.id === id ? [source.id] : []))
}

interface LineProps {
  readonly link: Link
  readonly from: Point | undefined
  readonly to: Point | undefined
  readonly share: number
  readonly isLit: boolean
}

function LinkLine({ link, from, to, share, isLit }: LineProps) {
  if (from === undefined || to === undefined) return null
  const { source, target, latencyMs, isDown, circuits, bytesPerSecond } = link
  const facts = [
    isDown ? 'out of use' : latencyText(latencyMs),
    countedName('circuits', circuits),
    rateText(bytesPerSecond),
  ]
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
  return (
    <g class={isLit ? undefined : 'is-dim'}>
      <path
        class={`router-link${isDown ? ' is-down' : ''}`}
        d={`M${from.x} ${from.y}L${to.x} ${to.y}`}
        style={{ strokeWidth: `${isDown ? 1.5 : 1.5 + 4 * share}px` }}
      >
        <title>{visibleLine(`${source.name} – ${target.name}: ${facts.join(', ')}`)}</title>
      </path>
      {latencyMs !== null && (
        <text class="link-latency" x={middle.x} y={middle.y + 4}>
          {latencyText(latencyMs)}
        </text>
      )}
    </g>
  )
}

interface DotProps {
  readonly router: Router
  readonly at: Point | undefined
  readonly isLit: boolean
  readonly onPoint: (isOver: boolean) => void
}

function RouterDot({ router, at, isLit, onPoint }: DotProps) {
  if (at === undefined) return null
  const { id, name, kind, isOnline, circuits } = router
  const whole = visibleLine(name)
  const title = whole.length > TITLE_LENGTH ? `${whole.slice(0, TITLE_LENGTH - 1)}…` : whole
  const isLeft = at.x < SIZE.width / 2
  return (
    <a
      href={hrefOfEntity(kind, id)}
      class={`router-dot${isLit ? '' : ' is-dim'}${stateWord(router) === 'offline' ? ' is-offline' : ''}`}
      aria-label={`${whole}, ${isOnline ? countedName('circuits', circuits) : stateWord(router)}`}
      onPointerEnter={() => onPoint(true)}
      onPointerLeave={() => onPoint(false)}
      onFocus={() => onPoint(true)}
      onBlur={() => onPoint(false)}
    >
      <circle cx={at.x} cy={at.y} r={SIZE.dot} />
      <text x={at.x + (isLeft ? -16 : 16)} y={at.y + 4} text-anchor={isLeft ? 'end' : 'start'}>
        {title}
      </text>
    </a>
  )
}
