import { numberText } from '../parts/number-text.ts'
import type { ShownGroup } from './graph.ts'
import { BOX_WIDTH, type Placed } from './layout.ts'
import { BOX_HEIGHT } from './use-layout.ts'

interface Props {
  readonly group: ShownGroup
  readonly place: Placed | undefined
  readonly spoken: string
  readonly isSelected: boolean
  readonly isDim: boolean
  /** Whether Tab stops here: at one group of all. */
  readonly isStop: boolean
  readonly onSelect: () => void
  readonly onHover: (isOver: boolean) => void
  readonly onFocus: () => void
}

/** As many characters fit into a box. */
const TITLE_LENGTH = 28

/** A group as a button of the drawing. */
export function GroupBox({ group, place, spoken, isSelected, isDim, isStop, onSelect, onHover, onFocus }: Props) {
  if (place === undefined) return null
  const title = group.title
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    onSelect()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no button elements
    <g
      class={`group group-${group.kind}${isSelected ? ' is-selected' : ''}${isDim ? ' is-dim' : ''}`}
      transform={`translate(${place.x} ${place.y})`}
      role="button"
      tabindex={isStop ? 0 : -1}
      aria-pressed={isSelected}
      aria-description={spoken}
      data-key={group.key}
      onClick={onSelect}
      onKeyDown={onKeyDown}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
      onFocus={onFocus}
    >
      <rect width={BOX_WIDTH} height={BOX_HEIGHT} rx="7" />
      <rect class="group-mark" width="4" height={BOX_HEIGHT - 12} x="7" y="6" rx="2" />
      <text class="group-title" x="19" y="20.5">
        {title.length > TITLE_LENGTH ? `${title.slice(0, TITLE_LENGTH - 1)}…` : title}
      </text>
      <text class="group-count" x={BOX_WIDTH - 11} y="20.5">
        {` ${numberText(group.count)}`}
      </text>
    </g>
  )
}
