import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { LinkType } from '../api/graph-rows.ts'
import { EdgePath } from './edge-path.tsx'
import type { Edge, ShownGroup } from './graph.ts'
import { GroupBox } from './group-box.tsx'
import { neighbourOf } from './neighbour.ts'
import { spokenGroup } from './spoken-group.ts'
import type { DrawnGraph } from './use-layout.ts'
import { useViewport } from './use-viewport.ts'

interface Props {
  readonly drawn: DrawnGraph
  /** Lines that are drawn only where they touch the group that is looked at. */
  readonly hidden: ReadonlySet<LinkType>
  readonly selected: string | undefined
  readonly onSelect: (key: string | undefined) => void
}

const COLUMN_HEAD = 24

const COLUMN_NAMES = { identities: 'Identities', services: 'Services', 'edge-routers': 'Edge routers' } as const

/** The groups and what connects them. Arrow keys go from group to group, Enter opens one, plus, minus and 0 zoom. */
export function Drawing({ drawn, hidden, selected, onSelect }: Props) {
  const { groups, edges, layout } = drawn
  const [hovered, setHovered] = useState<string>()
  const [focused, setFocused] = useState<string>()
  const svg = useRef<SVGSVGElement>(null)
  const viewport = useViewport(layout)
  const centre = hovered ?? selected
  const lit = useMemo(() => litBy(centre, edges), [centre, edges])
  useEffect(() => {
    // A panel that opens may cover the group that it is about.
    if (selected) boxNamed(svg.current, selected)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [selected])
  const shown = edges.filter((edge) => !hidden.has(edge.type) || stateOf(edge, centre) === 'lit')
  const stop = groups.some(({ key }) => key === focused) ? focused : (selected ?? groups[0]?.key)

  const focus = (key: string) => {
    setFocused(key)
    boxNamed(svg.current, key)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return onSelect(undefined)
    if (viewport.onKey(event.key)) return event.preventDefault()
    const next = stop && neighbourOf(stop, event.key, groups, layout)
    if (!next) return
    event.preventDefault()
    focus(next)
  }
  const boxOf = (group: ShownGroup) => (
    <GroupBox
      key={group.key}
      group={group}
      place={layout.places.get(group.key)}
      spoken={spokenGroup(group, edges)}
      isSelected={group.key === selected}
      isDim={centre !== undefined && !lit.has(group.key)}
      isStop={group.key === stop}
      onSelect={() => onSelect(group.key === selected ? undefined : group.key)}
      onHover={(isOver) => setHovered(isOver ? group.key : undefined)}
      onFocus={() => setFocused(group.key)}
    />
  )
  return (
    <div class="drawing">
      <div class="zoom">
        <button type="button" aria-label="Zoom in" onClick={viewport.zoomIn}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={viewport.zoomOut}>
          −
        </button>
        <button type="button" aria-label="Fit the drawing" onClick={viewport.showWhole}>
          Fit
        </button>
      </div>
      <div class="canvas" ref={viewport.frame} {...viewport.dragging}>
        {/* biome-ignore lint/a11y/useSemanticElements: keys move the focus between the buttons inside */}
        <svg
          ref={svg}
          width={layout.width * viewport.scale}
          height={layout.height * viewport.scale}
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          role="group"
          aria-label="Who reaches what: groups of identities, services and routers"
          onKeyDown={onKeyDown}
        >
          <g class="edges">
            {shown.map((edge) => (
              <EdgePath
                key={`${edge.type} ${edge.from} ${edge.to}`}
                edge={edge}
                places={layout.places}
                state={stateOf(edge, centre)}
              />
            ))}
          </g>
          {layout.columns.map(({ kind, x }) => (
            <text key={kind} class="column" x={x} y={COLUMN_HEAD}>
              {COLUMN_NAMES[kind]}
            </text>
          ))}
          {groups.map(boxOf)}
        </svg>
      </div>
    </div>
  )
}

function boxNamed(svg: SVGSVGElement | null, key: string): SVGElement | null {
  return svg?.querySelector<SVGElement>(`[data-key="${CSS.escape(key)}"]`) ?? null
}

function litBy(centre: string | undefined, edges: readonly Edge[]): ReadonlySet<string> {
  if (centre === undefined) return new Set()
  const touching = edges.filter(({ from, to }) => from === centre || to === centre)
  return new Set([centre, ...touching.flatMap(({ from, to }) => [from, to])])
}

function stateOf({ from, to }: Edge, centre: string | undefined): 'plain' | 'lit' | 'dim' {
  if (centre === undefined) return 'plain'
  return from === centre || to === centre ? 'lit' : 'dim'
}
