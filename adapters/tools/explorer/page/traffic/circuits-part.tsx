import { useState } from 'preact/hooks'
import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { isOfTraffic } from '../events/network-event.ts'
import { ConfirmedButton } from '../parts/confirmed-button.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { Pager } from '../parts/pager.tsx'
import { Time } from '../parts/time.tsx'
import { useAction } from '../parts/use-action.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { may } from '../session/session.ts'

/** Routers, links and circuits as they are now. */
export type Traffic = AnswerOf<PortcullisApi['GET /traffic']>['data']
type Circuit = Traffic['circuits'][number]

interface Props {
  readonly apis: Apis
  /** Whose circuits are listed; all where it is left out. */
  readonly of?: { readonly identity?: string; readonly service?: string; readonly router?: string }
  /** Changes with every event about the list. */
  readonly version?: number
}

const PAGE_SIZE = 10

/** The open circuits, the newest first. Each can be cut. */
export function CircuitsPart({ apis, of = {}, version = 0 }: Props) {
  const [cursors, setCursors] = useState<readonly string[]>([])
  const [cut, setCut] = useState(0)
  const { identity, service, router } = of
  const cursor = cursors.at(-1)
  const answer = useAnswer(
    async (signal) => {
      const query = { ...of, limit: String(PAGE_SIZE), ...(cursor !== undefined && { cursor }) }
      return (await apis.portcullis.call('GET /traffic', { query, signal })).data
    },
    [apis, identity, service, router, cursor, cut, version],
    isOfTraffic,
  )
  const count = (answer.data ?? answer.earlier)?.counts.circuits
  const title = count === undefined ? 'Circuits now' : `Circuits now: ${numberText(count)}`
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <Loaded answer={answer} isEmpty={({ circuits }) => circuits.length === 0} empty="No traffic flows.">
        {({ circuits, nextCursor }) => (
          <>
            <div class="wide-table">
              <table class="list">
                <thead>
                  <tr>
                    <th scope="col">From</th>
                    <th scope="col">To</th>
                    <th scope="col">Over</th>
                    <th scope="col">Since</th>
                    {may('ops', 'delete') && (
                      <th scope="col">
                        <span class="unseen">Cut</span>
                      </th>
                    )}
                  </tr>
                </thead>
                <tbody>
                  {circuits.map((circuit) => (
                    <Row key={circuit.id} apis={apis} circuit={circuit} onCut={() => setCut(cut + 1)} />
                  ))}
                </tbody>
              </table>
            </div>
            <Pager cursors={cursors} nextCursor={nextCursor} onTurn={setCursors} />
          </>
        )}
      </Loaded>
    </section>
  )
}

function Row({ apis, circuit, onCut }: { apis: Apis; circuit: Circuit; onCut: () => void }) {
  const action = useAction()
  const { id, identity, service, host, path, openedAt } = circuit
  const cut = async () => {
    const request = { params: { id }, body: { immediate: true } }
    if (await action.run('Cut.', () => apis.portcullis.call('DELETE /circuits/{id}', request))) onCut()
  }
  return (
    <tr>
      <td>
        <EntityLink kind="identities" {...identity} />
      </td>
      <td>
        <EntityLink kind="services" {...service} />
        {host && (
          <span class="muted">
            {' '}
            at <EntityLink kind="identities" {...host} />
          </span>
        )}
      </td>
      <td>
        {path.map((router, place) => (
          <span key={router.id}>
            {place > 0 && ' → '}
            <EntityLink kind="edge-routers" {...router} />
          </span>
        ))}
      </td>
      <td>
        <Time at={openedAt} />
      </td>
      {may('ops', 'delete') && (
        <td>
          <ConfirmedButton
            label="Cut"
            question="End it at once?"
            disabled={action.isBusy}
            onConfirm={() => void cut()}
          />
          {action.problem && (
            <p class="problem" role="alert">
              {action.problem}
            </p>
          )}
        </td>
      )}
    </tr>
  )
}
