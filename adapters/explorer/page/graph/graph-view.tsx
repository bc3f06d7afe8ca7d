import { useMemo, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import type { EdgeType, Graph } from '../api/graph-rows.ts'
import { announce } from '../parts/announcements.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { Drawing } from './drawing.tsx'
import { useLayout } from './use-layout.ts'
import { spokenGroup } from './words.ts'

/** How many groups are drawn at most, so that a drawing stays readable; what is left is one group of each kind. */
const MAX_GROUPS = 72

const EDGE_TYPES: readonly { readonly type: EdgeType; readonly label: string }[] = [
  { type: 'Dial', label: 'Dial' },
  { type: 'Bind', label: 'Bind' },
  { type: 'edge-router', label: 'Identity to router' },
  { type: 'service-edge-router', label: 'Service to router' },
]

/** Who reaches what, drawn by groups of role attributes. */
export function GraphView({ apis }: { apis: Apis }) {
  const answer = useAnswer((signal) => readGraph(apis, signal), [apis])
  const [hidden, setHidden] = useState<ReadonlySet<EdgeType>>(new Set())
  const [selected, setSelected] = useState<string>()
  const graph = answer.data
  const edges = useMemo(() => (graph?.edges ?? []).filter(({ type }) => !hidden.has(type)), [graph, hidden])
  const drawn = useLayout(graph, edges)

  const select = (key: string | undefined) => {
    setSelected(key)
    const group = graph?.groups.find((one) => one.key === key)
    if (group) announce(spokenGroup(group, edges))
  }
  const toggle = (type: EdgeType) => {
    const others = [...hidden].filter((one) => one !== type)
    setHidden(new Set(hidden.has(type) ? others : [...others, type]))
  }
  return (
    <section class="graph">
      <div class="bar">
        <h1>Who reaches what</h1>
        <fieldset class="toggles">
          <legend class="unseen">Lines that are drawn</legend>
          {EDGE_TYPES.map(({ type, label }) => (
            <label key={type} class={`toggle toggle-${type.toLowerCase()}`}>
              <input type="checkbox" checked={!hidden.has(type)} onChange={() => toggle(type)} />
              {label}
            </label>
          ))}
        </fieldset>
      </div>
      {answer.problem && <p class="problem">{answer.problem}</p>}
      {drawn && <Drawing drawn={drawn} selected={selected} onSelect={select} />}
    </section>
  )
}

async function readGraph(apis: Apis, signal: AbortSignal): Promise<Graph> {
  const query = `groupBy=role-attribute&limit=${MAX_GROUPS}`
  const response = await apis.send(new Request(`${location.origin}/portcullis/v1/graph?${query}`, { signal }))
  if (!response.ok) throw new Error(`${response.status}`)
  return ((await response.json()) as { data: Graph }).data
}
