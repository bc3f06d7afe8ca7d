import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { Joined } from '../parts/joined.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { bytesText, latencyText, numberText, rateText } from '../parts/number-text.ts'
import { Pager } from '../parts/pager.tsx'
import { type PlainColumn, PlainTable } from '../parts/plain-table.tsx'
import { Spark } from '../parts/spark.tsx'
import { Time } from '../parts/time.tsx'
import { may } from '../session/session.ts'
import { useApis } from '../session/use-apis.ts'
import { type Traffic, type TrafficOf, useTraffic } from './use-traffic.ts'

type Circuit = Traffic['circuits'][number]

const PAGE_SIZE = 10
export const HISTORY = 'Bytes a minute in the last half hour'

/** The open circuits of an entity, of all unless given, the newest first. Each can be cut. */
export function CircuitsPart({ of = {} }: { of?: TrafficOf }) {
  const apis = useApis()
  const [cursors, setCursors] = useState<readonly string[]>([])
  const [cut, setCut] = useState(0)
  const answer = useTraffic(of, PAGE_SIZE, cursors.at(-1), cut)
  const counts = (answer.data ?? answer.earlier)?.counts
  const title = counts ? `Circuits now: ${numberText(counts.circuits)}` : 'Circuits now'
  return (
    <section class="card circuits" aria-label={title}>
      <h2>
        {title}
        {counts && counts.circuits > 0 && (
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
      cell: ({ path }) => (
        <Joined of={path} by=" → ">
          {(router) => <EntityLink kind="edge-routers" {...router} />}
        </Joined>
      ),
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
    {
      title: 'Cut',
      as: 'number',
      isUnseen: true,
      cell: ({ id }) => (
        <ActionButton
          label="Cut"
          question="End it at once?"
          done="Cut."
          act={() => apis.portcullis.call('DELETE /circuits/{id}', { params: { id }, body: { immediate: true } })}
          onDone={onCut}
        />
      ),
    },
  ]
}
