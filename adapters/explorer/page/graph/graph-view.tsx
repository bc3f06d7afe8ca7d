import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import type { LinkType } from '../api/graph-rows.ts'
import type { Found } from '../api/search.ts'
import { hrefOf, place, stay } from '../navigation/place.ts'
import { announce } from '../parts/announcements.ts'
import { Finder } from '../parts/finder.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { Drawing } from './drawing.tsx'
import { EdgeToggles } from './edge-toggles.tsx'
import { type Grouping, readGraph, type ShownGroup } from './graph.ts'
import { GroupPanel } from './group-panel.tsx'
import { Matrix } from './matrix.tsx'
import { spokenGroup } from './spoken-group.ts'
import { useLayout } from './use-layout.ts'

/** How many groups of each kind are drawn, so that a drawing stays readable; the last holds all others. */
const GROUPS_SHOWN = 20

/** Every identity may connect to some router, so that these lines say little and cover much. */
const HIDDEN_AT_FIRST: ReadonlySet<LinkType> = new Set<LinkType>(['edge-router'])

const FOUND_KINDS = ['identities', 'services', 'edge-routers']

/** Who reaches what, by groups: drawn, or as a table. */
export function GraphView({ apis }: { apis: Apis }) {
  const { about } = place.value
  const groupBy: Grouping = about.get('by') === 'policy' ? 'policy' : 'role-attribute'
  const isTable = about.get('as') === 'matrix'
  const selected = about.get('group') ?? undefined
  const answer = useAnswer((signal) => readGraph(apis, groupBy, GROUPS_SHOWN, signal), [apis, groupBy])
  const [hidden, setHidden] = useState(HIDDEN_AT_FIRST)
  const graph = answer.data
  const drawn = useLayout(graph)
  const group = graph?.groups.find(({ key }) => key === selected)

  const show = (changed: { by?: Grouping; as?: string; group?: string | undefined }) =>
    stay('graph', { by: groupBy, as: isTable ? 'matrix' : undefined, group: selected, ...changed })
  const select = (key: string | undefined) => {
    show({ group: key })
    const one = graph?.groups.find((other) => other.key === key)
    if (one) announce(spokenGroup(one, graph?.edges ?? []))
  }
  const onPick = (found: Found) => {
    const holding = graph && groupHolding(graph.groups, found)
    if (holding) select(holding.key)
  }
  return (
    <section class="graph">
      <div class="bar">
        <h1>Who reaches what</h1>
        <Finder
          apis={apis}
          label="Find"
          placeholder="Identity, service or router"
          kinds={FOUND_KINDS}
          onPick={onPick}
        />
        <label class="inline">
          Group by
          <select
            value={groupBy}
            onChange={({ currentTarget }) =>
              show({ by: currentTarget.value === 'policy' ? 'policy' : 'role-attribute', group: undefined })
            }
          >
            <option value="role-attribute">role attributes</option>
            <option value="policy">same access</option>
          </select>
        </label>
        {/* biome-ignore lint/a11y/useSemanticElements: two links that belong together */}
        <span class="switch" role="group" aria-label="Show as">
          <a href={hrefOf('graph', { by: groupBy })} aria-current={!isTable}>
            Drawing
          </a>
          <a href={hrefOf('graph', { by: groupBy, as: 'matrix' })} aria-current={isTable}>
            Matrix
          </a>
        </span>
        {!isTable && <EdgeToggles hidden={hidden} onChange={setHidden} />}
      </div>
      {answer.problem && <p class="problem">{answer.problem}</p>}
      {graph?.groups.length === 0 && (
        <p class="empty">Nothing is here yet that you may see. Create identities, services and policies first.</p>
      )}
      {graph && isTable && <Matrix apis={apis} graph={graph} />}
      {!isTable && (
        <div class={group ? 'graph-body has-panel' : 'graph-body'} aria-busy={drawn === undefined}>
          {drawn && <Drawing drawn={drawn} hidden={hidden} selected={group?.key} onSelect={select} />}
          {graph && group && <GroupPanel apis={apis} group={group} graph={graph} onSelect={select} />}
        </div>
      )}
    </section>
  )
}

/** The group that holds what was found: its own, or that of all others of its kind where that one is not drawn. */
function groupHolding(groups: readonly ShownGroup[], { kind, group }: Found): ShownGroup | undefined {
  return groups.find(({ key }) => key === group) ?? groups.find((other) => other.kind === kind && other.isRest)
}
