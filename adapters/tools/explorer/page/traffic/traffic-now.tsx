import type { Apis } from '../api/apis.ts'
import { isOfTraffic } from '../events/network-event.ts'
import { AndMore } from '../parts/and-more.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText, rateText } from '../parts/number-text.ts'
import { PlainTable } from '../parts/plain-table.tsx'
import { Spark } from '../parts/spark.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useEvery } from '../parts/use-every.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { CircuitsPart, HISTORY, READ_EVERY_MS, type Traffic } from './circuits-part.tsx'
import { FlowList } from './flow-list.tsx'
import { LinksPart } from './links-part.tsx'
import { RouterMap } from './router-map.tsx'
import { MOST_IN_COLUMN, TrafficDrawing } from './traffic-drawing.tsx'

/** Routers, links and circuits as they are now, drawn and as tables. */
export function TrafficNow({ apis }: { apis: Apis }) {
  const version = useEvery(READ_EVERY_MS)
  const isNarrow = useIsNarrow()
  const answer = useAnswer(
    async (signal) => (await apis.portcullis.call('GET /traffic', { query: { limit: '1' }, signal })).data,
    [apis, version],
    isOfTraffic,
  )
  return (
    <Loaded answer={answer} isQuiet>
      {(traffic) => (
        <>
          <Numbers traffic={traffic} />
          <section class="card scrolls" aria-label="Who talks to whom">
            <h2>Who talks to whom</h2>
            {traffic.routers.length === 0 && <p class="muted">There are no routers yet.</p>}
            {isNarrow && <FlowList traffic={traffic} />}
            {!isNarrow && traffic.routers.length > 0 && <TrafficDrawing traffic={traffic} />}
            {!isNarrow && traffic.routers.length > MOST_IN_COLUMN && (
              <p class="muted">
                Drawn are those with most traffic, and routers that are offline: {numberText(MOST_IN_COLUMN)} of{' '}
                {numberText(traffic.counts.routers)} routers.
              </p>
            )}
            {!traffic.isOpen && (
              <p class="muted">This controller serves no routers: circuits and links are not known here.</p>
            )}
          </section>
          <CircuitsPart apis={apis} />
          {!isNarrow && <RouterMap traffic={traffic} />}
          <div class="columns">
            <Routers traffic={traffic} />
            <LinksPart traffic={traffic} />
          </div>
        </>
      )}
    </Loaded>
  )
}

function Numbers({ traffic: { counts } }: { traffic: Traffic }) {
  const offline = counts.routers - counts.routersOnline
  return (
    <dl class="counts now" aria-label="Now">
      <div class={`count ${offline > 0 ? 'count-bad' : 'count-good'}`}>
        <dt>routers online</dt>
        <dd>
          {numberText(counts.routersOnline)} of {numberText(counts.routers)}
        </dd>
      </div>
      <div class="count">
        <dt>links</dt>
        <dd>{numberText(counts.links)}</dd>
      </div>
      <div class="count">
        <dt>circuits</dt>
        <dd>{numberText(counts.circuits)}</dd>
      </div>
      <div class="count">
        <dt>traffic</dt>
        <dd>
          {rateText(counts.bytesPerSecond)}
          {counts.history.some((bytes) => bytes > 0) && <Spark values={counts.history} label={HISTORY} />}
        </dd>
      </div>
    </dl>
  )
}

const MOST_LISTED = 20

function Routers({ traffic: { routers, counts } }: { traffic: Traffic }) {
  return (
    <section class="card" aria-label="Routers">
      <h2>Routers</h2>
      <PlainTable
        rows={routers.slice(0, MOST_LISTED)}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Router',
            cell: ({ id, name, kind, isOnline }) => (
              <>
                <span class={`dot ${isOnline ? 'dot-online' : 'dot-down'}`} />{' '}
                <EntityLink kind={kind} id={id} name={name} />
              </>
            ),
          },
          { title: 'State', cell: ({ isOnline }) => (isOnline ? 'online' : <span class="loss">offline</span>) },
          { title: 'Circuits', as: 'number', cell: ({ circuits }) => numberText(circuits) },
          { title: 'Rate', as: 'number', cell: ({ bytesPerSecond }) => rateText(bytesPerSecond) },
        ]}
      />
      <AndMore all={counts.routers} shown={MOST_LISTED} />
    </section>
  )
}
