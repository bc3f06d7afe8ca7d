import type { Apis } from '../api/apis.ts'
import type { LinkType } from '../api/graph-rows.ts'
import { hrefOf } from '../navigation/place.ts'
import type { Edge, Graph, ShownGroup } from './graph.ts'
import { Members } from './members.tsx'
import { countText, LINK_WORDS } from './words.ts'

interface Props {
  readonly apis: Apis
  readonly group: ShownGroup
  readonly graph: Graph
  readonly onSelect: (key: string | undefined) => void
}

const TYPES: readonly LinkType[] = ['Dial', 'Bind', 'edge-router', 'service-edge-router']

/** Shows one group: the members, and the entities that they reach by which policies. */
export function GroupPanel({ apis, group, graph, onSelect }: Props) {
  const sections = TYPES.flatMap((type) => {
    const ofType = graph.edges.filter((edge) => edge.type === type)
    return [
      { title: LINK_WORDS[type][0], edges: ofType.filter(({ from }) => from === group.key) },
      { title: LINK_WORDS[type][1], edges: ofType.filter(({ to }) => to === group.key) },
    ]
  }).filter(({ edges }) => edges.length > 0)
  return (
    <aside class="panel" aria-label={group.title}>
      <div class="panel-head">
        <div>
          <h2>{group.title}</h2>
          <p class="muted">{countText(group.count, group.kind)}</p>
        </div>
        <button type="button" class="quiet" aria-label="Close" onClick={() => onSelect(undefined)}>
          ✕
        </button>
      </div>
      {sections.length === 0 && <p class="empty">No policy reaches these.</p>}
      {sections.map(({ title, edges }) => (
        <section key={title}>
          <h3>{title}</h3>
          <ul class="links">
            {edges.map((edge) => (
              <LinkedGroup
                key={`${edge.from} ${edge.to}`}
                edge={edge}
                group={group}
                graph={graph}
                onSelect={onSelect}
              />
            ))}
          </ul>
        </section>
      ))}
      <Members apis={apis} group={group} />
    </aside>
  )
}

interface LinkedProps {
  readonly edge: Edge
  readonly group: ShownGroup
  readonly graph: Graph
  readonly onSelect: (key: string) => void
}

function LinkedGroup({ edge, group, graph, onSelect }: LinkedProps) {
  const key = edge.from === group.key ? edge.to : edge.from
  const other = graph.groups.find((one) => one.key === key)
  if (other === undefined) return null
  const isPartial = edge.pairs < group.count * other.count
  const more = edge.policyCount - edge.policies.length
  return (
    <li>
      <button type="button" class="link" onClick={() => onSelect(other.key)}>
        {other.title}
      </button>
      <span class="muted">
        {isPartial ? ` some of ${countText(other.count, other.kind)}` : ` ${countText(other.count, other.kind)}`}
        {edge.isGuarded && ', posture asked'}
      </span>
      <p class="by">
        by{' '}
        {edge.policies.map(({ id, name, type }, place) => (
          <span key={id}>
            {place > 0 && ', '}
            <a href={hrefOf('json', { kind: POLICY_KINDS[type], id })}>{name}</a>
          </span>
        ))}
        {more > 0 && ` and ${more} more`}
      </p>
    </li>
  )
}

const POLICY_KINDS = {
  Dial: 'service-policies',
  Bind: 'service-policies',
  'edge-router': 'edge-router-policies',
  'service-edge-router': 'service-edge-router-policies',
} as const satisfies Record<LinkType, string>
