import { visibleLine } from '../../../../../src/base/text.ts'
import { numberText } from '../parts/words.ts'
import type { ColumnName, MapNode } from './map-layout.ts'

/** The width of a character of a title, at most, and of what stands beside the title. */
const CHARACTER = 7.4
const SMALL_CHARACTER = 6
const BESIDE = 72
/** A box of this height has room for a second line and for its share. */
const HIGH = 40

interface BoxProps {
  readonly column: ColumnName
  readonly node: MapNode
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Stands in the place of the count: which part of the centre reaches the box. */
  readonly note: string | undefined
  readonly isChosen: boolean
  readonly isDim: boolean
  readonly spoken: string
  readonly onChoose: () => void
  readonly onPoint: (isOver: boolean) => void
}

/** An entity, a group or a policy as a box: its title, its count or a note in place of it, and which part of its side it is. */
export function MapBox(props: BoxProps) {
  const { column, node, x, y, width, height, note, isChosen, isDim, spoken, onChoose, onPoint } = props
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    onChoose()
  }
  const whole = visibleLine(node.title)
  const room = Math.floor((width - (node.count === undefined && !note ? BESIDE / 2 : BESIDE)) / CHARACTER)
  const title = whole.length > room ? `${whole.slice(0, room - 1)}…` : whole
  const isHigh = height >= HIGH
  const hasWithin = isHigh && node.within !== ''
  const within = visibleLine(node.within).slice(0, Math.floor((width - BESIDE) / SMALL_CHARACTER))
  const hasShare = isHigh && node.count !== undefined
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no button elements
    <g
      class={`group group-${column}${isChosen ? ' is-selected' : ''}${isDim ? ' is-dim' : ''}`}
      transform={`translate(${x} ${y})`}
      role="button"
      tabindex={0}
      {...(column !== 'policies' && { 'aria-pressed': isChosen })}
      aria-label={[title, hasWithin && within, node.count !== undefined && numberText(node.count)]
        .filter(Boolean)
        .join(' ')}
      aria-description={spoken}
      data-key={node.key}
      onClick={onChoose}
      onKeyDown={onKeyDown}
      // A box that appears under a resting pointer is not pointed at.
      onPointerMove={() => onPoint(true)}
      onPointerLeave={() => onPoint(false)}
      onFocus={() => onPoint(true)}
      onBlur={() => onPoint(false)}
    >
      <title>{[whole, visibleLine(node.within)].filter(Boolean).join(', ')}</title>
      <rect width={width} height={height} rx="7" />
      <rect class="group-mark" width="4" height={height - 14} x="7" y="7" rx="2" />
      {hasShare && (
        <rect
          class="group-share"
          height="3"
          width={Math.max(2, (width - 38) * node.share)}
          x="19"
          y={height - 7}
          rx="1.5"
        />
      )}
      <text class="group-title" x="19" y={hasWithin ? 16 : hasShare ? 22 : height / 2 + 4.5}>
        {title}
      </text>
      {hasWithin && (
        <text class="group-within" x="19" y="29">
          {within}
        </text>
      )}
      <text class={note ? 'group-count is-note' : 'group-count'} x={width - 13} y={hasShare ? 22 : height / 2 + 4.5}>
        {note || (node.count === undefined ? '' : ` ${numberText(node.count)}`)}
      </text>
    </g>
  )
}
