import type { Apis } from '../api/apis.ts'
import { hrefOf, place } from '../navigation/place.ts'
import { numberText } from '../parts/number-text.ts'
import type { Edge, Graph } from './graph.ts'
import { MemberMatrix } from './member-matrix.tsx'

/** Who may dial and bind what as a table: groups first, and the members of two of them on demand. */
export function Matrix({ apis, graph }: { apis: Apis; graph: Graph }) {
  const { about } = place.value
  const rows = graph.groups.filter(({ kind }) => kind === 'identities')
  const columns = graph.groups.filter(({ kind }) => kind === 'services')
  const row = rows.find(({ key }) => key === about.get('rows'))
  const column = columns.find(({ key }) => key === about.get('columns'))
  if (row && column) return <MemberMatrix apis={apis} row={row} column={column} />
  const byPair = Map.groupBy(graph.edges, ({ from, to }) => `${from} ${to}`)
  return (
    <section class="matrix-frame" aria-label="Matrix">
      <table class="matrix">
        <caption>
          Identities in rows, services in columns. D: may dial, B: may bind; in brackets where only some may.
        </caption>
        <thead>
          <tr>
            <td />
            {columns.map((group) => (
              <th key={group.key} scope="col">
                <span class="upright">
                  {group.title} <span class="muted">{numberText(group.count)}</span>
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((group) => (
            <tr key={group.key}>
              <th scope="row">
                {group.title} <span class="muted">{numberText(group.count)}</span>
              </th>
              {columns.map((other) => (
                <td key={other.key}>
                  <Cell
                    edges={byPair.get(`${group.key} ${other.key}`) ?? []}
                    whole={group.count * other.count}
                    href={hrefOf('graph', {
                      by: about.get('by') ?? undefined,
                      as: 'matrix',
                      rows: group.key,
                      columns: other.key,
                    })}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Cell({ edges, whole, href }: { edges: readonly Edge[]; whole: number; href: string }) {
  if (edges.length === 0) return null
  const isGuarded = edges.every((edge) => edge.isGuarded)
  const policies = edges.flatMap((edge) => edge.policies.map(({ name }) => name)).join(', ')
  return (
    <a class="cell" href={href} title={`${policies}${isGuarded ? '; posture asked' : ''}`}>
      {edges.map(({ type, pairs }) => (
        <span key={type} class={`mark mark-${type.toLowerCase()}${pairs < whole ? ' is-some' : ''}`}>
          {pairs < whole ? `(${type.slice(0, 1)})` : type.slice(0, 1)}
        </span>
      ))}
      {isGuarded && <span class="guard">p</span>}
    </a>
  )
}
