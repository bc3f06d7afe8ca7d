import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { ActionButton } from '../parts/action.tsx'
import { EntityLink, Joined, Time } from '../parts/entity-link.tsx'
import { Pager } from '../parts/found-list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { type PlainColumn, PlainTable } from '../parts/plain-table.tsx'
import { bytesText, latencyText, numberText, rateText } from '../parts/words.ts'
import { may, useApis } from '../session/session.ts'
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

const SIZE = { width: 96, height: 22 } as const

/** A small line of numbers over time, the earliest first. Its words say the same to readers who do not see it. */
export function Spark({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(...values, 1)
  const x = (place: number) => (place / Math.max(values.length - 1, 1)) * SIZE.width
  const y = (value: number) => SIZE.height - 2 - (value / most) * (SIZE.height - 4)
  const line = values.map((value, place) => `${place === 0 ? 'M' : 'L'}${x(place).toFixed(1)} ${y(value).toFixed(1)}`)
  return (
    <svg class="spark" viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} role="img" aria-label={label}>
      <title>{label}</title>
      <path class="spark-area" d={`${line.join('')}L${SIZE.width} ${SIZE.height}L0 ${SIZE.height}Z`} />
      <path class="spark-line" d={line.join('')} />
    </svg>
  )
}
