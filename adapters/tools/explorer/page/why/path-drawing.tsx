import { visibleLine } from '../../../../../src/base/text.ts'
import type { Explanation } from '../api/apis.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { COLUMN_NAMES, type PathNode, pathOf, type StepState } from './path.ts'

const BOX = { height: 44, gap: 10 } as const
/** The width of the whole, and of the room between two columns. */
const WIDTH = 1232
const BETWEEN = 36
const HEAD = 26
/** The width of a character of a title, at most, and of what stands beside the title. */
const CHARACTER = 8.3
const BESIDE = 27
/** The drawing needs a window of this width (px); in a smaller one it would scroll sideways. */
const LEAST_WIDTH = 960

/** The way from the identity to the service, marked as far as it is open. */
export function PathDrawing({ explanation }: { explanation: Explanation }) {
  const { nodes, lines } = pathOf(explanation)
  const isNarrow = useIsNarrow(LEAST_WIDTH)
  if (isNarrow) return <PathList nodes={nodes} />
  // A part of the way that has nothing leaves its room to the names of the others.
  const columns = COLUMN_NAMES.flatMap((name, column) => {
    const own = nodes.filter((node) => node.column === column)
    return own.length > 0 ? [{ name, own }] : []
  })
  const step = (WIDTH + BETWEEN) / columns.length
  const box = step - BETWEEN
  const rows = Math.max(...columns.map(({ own }) => own.length))
  const height = HEAD + rows * (BOX.height + BOX.gap)
  const places = new Map(
    columns.flatMap(({ own }, number) =>
      own.map((node, row) => {
        const top = HEAD + ((rows - own.length) * (BOX.height + BOX.gap)) / 2
        return [node.key, { x: number * step, y: top + row * (BOX.height + BOX.gap) }] as const
      }),
    ),
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard
    <figure class="path card scrolls" tabIndex={0} aria-label="The way from the identity to the service">
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing of links */}
      <svg viewBox={`-2 0 ${WIDTH + 4} ${height}`} role="group" aria-label={spoken(nodes)}>
        {columns.map(({ name }, number) => (
          <text key={name} class="column" x={number * step} y="14">
            {name}
          </text>
        ))}
        {lines.map(({ from, to, state }) => {
          const [one, other] = [places.get(from), places.get(to)]
          if (!one || !other) return null
          const [x1, y1, x2, y2] = [one.x + box, one.y + BOX.height / 2, other.x, other.y + BOX.height / 2]
          const bend = Math.min(60, (x2 - x1) / 2)
          return (
            <path
              key={`${from} ${to}`}
              class={`way way-${state}`}
              d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
            />
          )
        })}
        {nodes.map((node) => (
          <PathBox key={node.key} node={node} place={places.get(node.key)} width={box} />
        ))}
      </svg>
    </figure>
  )
}

interface BoxProps {
  readonly node: PathNode
  readonly place: { readonly x: number; readonly y: number } | undefined
  readonly width: number
}

function PathBox({ node, place, width }: BoxProps) {
  if (!place) return null
  const { title, note, kind, state, href } = node
  const box = (
    <g class={`stop stop-${kind} stop-${state}`} transform={`translate(${place.x} ${place.y})`}>
      <title>{visibleLine(title)}</title>
      <rect width={width} height={BOX.height} rx="7" />
      <rect class="stop-mark" x="7" y="7" width="4" height={BOX.height - 14} rx="2" />
      <text class="stop-title" x="19" y={note === '' ? 27 : 19}>
        {shortened(visibleLine(title), width)}
      </text>
      <text class="stop-note" x="19" y="35">
        {shortened(note, width)}
      </text>
    </g>
  )
  return href === undefined ? box : <a href={href}>{box}</a>
}

/** Shortens in the middle: names of one kind begin alike and differ at the end. */
function shortened(text: string, width: number): string {
  const characters = [...text]
  const room = Math.floor((width - BESIDE) / CHARACTER)
  if (characters.length <= room) return text
  const half = (room - 1) / 2
  return `${characters.slice(0, Math.ceil(half)).join('')}…${characters.slice(-Math.floor(half)).join('')}`
}

function spoken(nodes: readonly PathNode[]): string {
  return nodes
    .map(({ title, note, state }) => `${visibleLine(title)}${note && `, ${note}`}: ${STATE_WORDS[state]}`)
    .join('; ')
}

const TONES = { passed: 'gain', refused: 'loss', 'not-reached': '' } as const
const MARKS: Readonly<Record<StepState, string>> = { passed: '✓', refused: '✕', 'not-reached': '·' }

/** The way from the identity to the service from above to below, for windows that are too narrow to draw it. */
function PathList({ nodes }: { nodes: readonly PathNode[] }) {
  return (
    <section class="card" aria-label="The way from the identity to the service">
      <h2>The way</h2>
      <ol class="way-list">
        {COLUMN_NAMES.map((name, column) => {
          const stops = nodes.filter((node) => node.column === column)
          if (stops.length === 0) return null
          return (
            <li key={name}>
              <span class="muted">{name}</span>
              <ul>
                {stops.map(({ key, title, note, state, href }) => (
                  <li key={key} class="way-stop">
                    <span class={TONES[state]} role="img" aria-label={STATE_WORDS[state]}>
                      {MARKS[state]}
                    </span>
                    <span>
                      {href === undefined ? visibleLine(title) : <a href={href}>{visibleLine(title)}</a>}
                      {note !== '' && <span class="muted"> {note}</span>}
                    </span>
                  </li>
                ))}
              </ul>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** How far the way is open, in words. */
const STATE_WORDS: Readonly<Record<StepState, string>> = {
  passed: 'open',
  refused: 'closed',
  'not-reached': 'not reached',
}
