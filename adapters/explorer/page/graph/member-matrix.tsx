import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { hrefOf, place } from '../navigation/place.ts'
import { useAnswer } from '../parts/use-answer.ts'
import type { ShownGroup } from './graph.ts'

/** The members of two groups, each with each. */
export function MemberMatrix({ apis, row, column }: { apis: Apis; row: ShownGroup; column: ShownGroup }) {
  const [after, setAfter] = useState<{ identitiesAfter?: string; servicesAfter?: string }>({})
  const answer = useAnswer(
    async (signal) => {
      const query = { identities: row.key, services: column.key, ...after }
      return (await apis.portcullis.call('GET /matrix', { query, signal })).data
    },
    [apis, row.key, column.key, after],
  )
  const { by, as } = { by: place.value.about.get('by') ?? undefined, as: 'matrix' }
  const matrix = answer.data
  if (answer.problem) return <p class="problem">{answer.problem}</p>
  if (matrix === undefined) return <p class="empty">Reading…</p>
  const cells = Map.groupBy(matrix.cells, ({ identity, service }) => `${identity} ${service}`)
  return (
    <section class="matrix-frame" aria-label="Matrix">
      <p class="bar">
        <a href={hrefOf('graph', { by, as })}>All groups</a>
        <span class="muted">
          {row.title} × {column.title}
        </span>
        {(after.identitiesAfter || after.servicesAfter) && (
          <button type="button" onClick={() => setAfter({})}>
            From the beginning
          </button>
        )}
        {matrix.nextIdentities && (
          <button type="button" onClick={() => setAfter({ ...after, identitiesAfter: matrix.nextIdentities ?? '' })}>
            Next identities
          </button>
        )}
        {matrix.nextServices && (
          <button type="button" onClick={() => setAfter({ ...after, servicesAfter: matrix.nextServices ?? '' })}>
            Next services
          </button>
        )}
      </p>
      <table class="matrix">
        <caption>D: may dial, B: may bind. Posture counts for nothing here; a cell tells the whole story.</caption>
        <thead>
          <tr>
            <td />
            {matrix.services.map(({ id, name }) => (
              <th key={id} scope="col">
                <span class="upright">{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {matrix.identities.map((identity, i) => (
            <tr key={identity.id}>
              <th scope="row">{identity.name}</th>
              {matrix.services.map((service, s) => (
                <td key={service.id}>
                  <a class="cell" href={hrefOf('why', { identity: identity.id, service: service.id })}>
                    {(cells.get(`${i} ${s}`) ?? []).map(({ type }) => (
                      <span key={type} class={`mark mark-${type.toLowerCase()}`}>
                        {type.slice(0, 1)}
                      </span>
                    ))}
                    {!cells.has(`${i} ${s}`) && (
                      <span class="mark-none">
                        ·<span class="unseen">nothing</span>
                      </span>
                    )}
                  </a>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
