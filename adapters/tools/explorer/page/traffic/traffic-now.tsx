import { Card, Count } from '../parts/card.tsx'
import { EntityLink, Joined } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { PlainTable } from '../parts/plain-table.tsx'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { countedName, latencyText, numberText, rateText } from '../parts/words.ts'
import { CircuitsPart, HISTORY, Spark } from './circuits-part.tsx'
import { RouterMap } from './router-map.tsx'
import { MOST_IN_COLUMN, TrafficDrawing } from './traffic-drawing.tsx'
import { DOTS, stateWord, type Traffic, useTraffic } from './use-traffic.ts'

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
      <Count label="routers online" tone={routersTone(counts)}>
        {numberText(counts.routersOnline)} of {numberText(counts.routers)}
      </Count>
      <Count label="links">{numberText(counts.links)}</Count>
      <Count label="circuits">{numberText(counts.circuits)}</Count>
      <Count label="traffic">
        {rateText(counts.bytesPerSecond)}
        {counts.history.some((bytes) => bytes > 0) && <Spark values={counts.history} label={HISTORY} />}
      </Count>
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
            cell: ({ id, name, kind, ...router }) => (
              <>
                <span class={DOTS[stateWord(router)]} /> <EntityLink kind={kind} id={id} name={name} />
              </>
            ),
          },
          { title: 'State', cell: stateWord },
          { title: 'Circuits', as: 'number', cell: ({ circuits }) => numberText(circuits) },
          { title: 'Rate', as: 'number', cell: ({ bytesPerSecond }) => rateText(bytesPerSecond) },
        ]}
      />
      <AndMore all={counts.routers} shown={MOST_LISTED} />
    </Card>
  )
}

const MOST_LINKS = 20

/** The links between routers, the most used first, with their numbers. */
export function LinksPart({ traffic: { links, counts } }: { traffic: Traffic }) {
  return (
    <Card title="Links">
      {links.length === 0 && <p class="muted">None between routers of this controller.</p>}
      {links.length > 0 && (
        <PlainTable
          rows={links.slice(0, MOST_LINKS)}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Between',
              cell: ({ source, target, isDown }) => (
                <>
                  <EntityLink kind="edge-routers" {...source} /> – <EntityLink kind="edge-routers" {...target} />
                  {isDown && <span class="loss"> out of use</span>}
                </>
              ),
            },
            { title: 'Latency', as: 'number', cell: ({ latencyMs }) => latencyText(latencyMs) },
            { title: 'Circuits', as: 'number', cell: ({ circuits }) => numberText(circuits) },
            { title: 'Rate', as: 'number', cell: ({ bytesPerSecond }) => rateText(bytesPerSecond) },
          ]}
        />
      )}
      <AndMore all={counts.links} shown={MOST_LINKS} />
    </Card>
  )
}

/** As many of them as a drawing has boxes in a column, times the columns. */
const MOST_FLOWS = 36

/**
 * The present traffic between identities and services as a list, for windows that are too narrow for the drawing: the most circuits first.
 */
function FlowList({ traffic: { flows } }: { traffic: Traffic }) {
  const busiest = flows.toSorted((a, b) => b.circuits - a.circuits)
  return (
    <>
      <ul class="links" aria-label="Who talks to whom now">
        {busiest.slice(0, MOST_FLOWS).map(({ identity, service, routers, circuits }) => (
          <li key={`${identity.id} ${service.id} ${routers.map(({ id }) => id)}`}>
            <EntityLink kind="identities" id={identity.id} name={identity.name ?? identity.id} /> →{' '}
            <EntityLink kind="services" id={service.id} name={service.name ?? service.id} />
            <p class="by">
              {countedName('circuits', circuits)}
              {routers.length > 0 && ' over '}
              <Joined of={routers}>{(router) => <EntityLink kind="edge-routers" {...router} />}</Joined>
            </p>
          </li>
        ))}
      </ul>
      {flows.length === 0 && <p class="muted">No traffic flows.</p>}
      <AndMore all={flows.length} shown={MOST_FLOWS} />
    </>
  )
}

/** The number of further entries, below a list that shows the first entries; nothing when the list is complete. */
function AndMore({ all, shown }: { all: number; shown: number }) {
  return all > shown ? <p class="muted">and {numberText(all - shown)} more</p> : null
}
