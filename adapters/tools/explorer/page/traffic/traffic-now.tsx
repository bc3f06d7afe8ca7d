import { AndMore } from '../parts/and-more.tsx'
import { Card } from '../parts/card.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText, rateText } from '../parts/number-text.ts'
import { PlainTable } from '../parts/plain-table.tsx'
import { Spark } from '../parts/spark.tsx'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { CircuitsPart, HISTORY } from './circuits-part.tsx'
import { FlowList } from './flow-list.tsx'
import { LinksPart } from './links-part.tsx'
import { RouterMap } from './router-map.tsx'
import { MOST_IN_COLUMN, TrafficDrawing } from './traffic-drawing.tsx'
import { type Traffic, useTraffic } from './use-traffic.ts'

/** Routers, links and circuits as they are now, drawn and as tables. */
export function TrafficNow() {
  const isNarrow = useIsNarrow()
  const answer = useTraffic()
  return (
    <Loaded answer={answer} isQuiet>
      {(traffic) => (
        <>
          <Numbers traffic={traffic} />
          <Card title="Who talks to whom" class="scrolls">
            {traffic.routers.length === 0 && <p class="muted">There are no routers yet.</p>}
            {isNarrow && traffic.routers.length > 0 && <FlowList traffic={traffic} />}
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
          </Card>
          {traffic.routers.length > 0 && <CircuitsPart />}
          {!isNarrow && <RouterMap traffic={traffic} />}
          <div class="columns">
            {traffic.routers.length > 0 && <Routers traffic={traffic} />}
            {traffic.routers.length > 0 && <LinksPart traffic={traffic} />}
          </div>
        </>
      )}
    </Loaded>
  )
}

/** The class for how many of the routers are online; none where there is no router to judge. */
export function routersTone({ routers, routersOnline }: Pick<Traffic['counts'], 'routers' | 'routersOnline'>): string {
  if (routers === 0) return ''
  return routersOnline < routers ? 'count-bad' : 'count-good'
}

function Numbers({ traffic: { counts } }: { traffic: Traffic }) {
  return (
    <dl class="counts now" aria-label="Now">
      <div class={`count ${routersTone(counts)}`}>
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
    <Card title="Routers">
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
    </Card>
  )
}
