import { useState } from 'preact/hooks'
import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { isOfTraffic } from '../events/network-event.ts'
import { ActionProblem } from '../parts/action-problem.tsx'
import { ConfirmedButton } from '../parts/confirmed-button.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { bytesText, latencyText, numberText, rateText } from '../parts/number-text.ts'
import { Pager } from '../parts/pager.tsx'
import { type PlainColumn, PlainTable } from '../parts/plain-table.tsx'
import { Spark } from '../parts/spark.tsx'
import { Time } from '../parts/time.tsx'
import { useAction } from '../parts/use-action.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useEvery } from '../parts/use-every.ts'
import { may } from '../session/session.ts'

/** Routers, links and circuits as they are now. */
export type Traffic = AnswerOf<PortcullisApi['GET /traffic']>['data']
type Circuit = Traffic['circuits'][number]

interface Props {
  readonly apis: Apis
  /** Whose circuits are listed; all where it is left out. */
  readonly of?: { readonly identity?: string; readonly service?: string; readonly router?: string }
}

const PAGE_SIZE = 10
/** Milliseconds between two readings without events: bytes flow without any, and routers of other processes send none here. */
export const READ_EVERY_MS = 15_000
export const HISTORY = 'Bytes a minute in the last half hour'

/** The open circuits, the newest first. Each can be cut. */
export function CircuitsPart({ apis, of = {} }: Props) {
  const version = useEvery(READ_EVERY_MS)
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
  const counts = (answer.data ?? answer.earlier)?.counts
  const count = counts?.circuits
  const title = count === undefined ? 'Circuits now' : `Circuits now: ${numberText(count)}`
  return (
    <section class="card circuits" aria-label={title}>
      <h2>
        {title}
        {counts !== undefined && counts.circuits > 0 && (
          <span class="load">
            {rateText(counts.bytesPerSecond)} <Spark values={counts.history} label={HISTORY} />
          </span>
        )}
      </h2>
      <Loaded answer={answer} isQuiet isEmpty={({ circuits }) => circuits.length === 0} empty="No traffic flows.">
        {({ circuits, nextCursor }) => (
          <>
            <PlainTable
              class="stacks"
              columns={columnsFor(apis, () => setCut(cut + 1))}
              rows={circuits}
              keyOf={({ id }) => id}
            />
            <Pager cursors={cursors} nextCursor={nextCursor} onTurn={setCursors} />
          </>
        )}
      </Loaded>
    </section>
  )
}

function columnsFor(apis: Apis, onCut: () => void): readonly PlainColumn<Circuit>[] {
  const columns: readonly PlainColumn<Circuit>[] = [
    { title: 'From', cell: ({ identity }) => <EntityLink kind="identities" {...identity} /> },
    {
      title: 'To',
      cell: ({ service, host }) => (
        <>
          <EntityLink kind="services" {...service} />
          {host && (
            <span class="muted">
              {' '}
              at <EntityLink kind="identities" {...host} />
            </span>
          )}
        </>
      ),
    },
    {
      title: 'Over',
      cell: ({ path }) =>
        path.map((router, place) => (
          <span key={router.id}>
            {place > 0 && ' → '}
            <EntityLink kind="edge-routers" {...router} />
          </span>
        )),
    },
    { title: 'Since', cell: ({ openedAt }) => <Time at={openedAt} /> },
    { title: 'Latency', as: 'number', cell: ({ path, latencyMs }) => (path.length > 1 ? latencyText(latencyMs) : '–') },
    { title: 'Bytes', as: 'number', cell: ({ bytes }) => (bytes === 0 ? '–' : bytesText(bytes)) },
    {
      title: 'Rate',
      as: 'number',
      cell: ({ bytes, bytesPerSecond, history }) => (
        <>
          {rateText(bytesPerSecond)} {bytes > 0 && <Spark values={history} label={HISTORY} />}
        </>
      ),
    },
  ]
  if (!may('ops', 'delete')) return columns
  return [
    ...columns,
    { title: 'Cut', as: 'number', isUnseen: true, cell: ({ id }) => <Cut apis={apis} id={id} onCut={onCut} /> },
  ]
}

function Cut({ apis, id, onCut }: { apis: Apis; id: string; onCut: () => void }) {
  const action = useAction()
  const cut = async () => {
    const request = { params: { id }, body: { immediate: true } }
    if (await action.run('Cut.', () => apis.portcullis.call('DELETE /circuits/{id}', request))) onCut()
  }
  return (
    <>
      <ConfirmedButton label="Cut" question="End it at once?" disabled={action.isBusy} onConfirm={() => void cut()} />
      <ActionProblem of={action.problem} />
    </>
  )
}
