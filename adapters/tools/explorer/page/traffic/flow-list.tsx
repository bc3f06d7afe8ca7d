import { AndMore } from '../parts/and-more.tsx'
import { EntityLink } from '../parts/entity-link.tsx'
import { Joined } from '../parts/joined.tsx'
import { countedName } from '../parts/kind-names.ts'
import type { Traffic } from './use-traffic.ts'

/** As many of them as a drawing has boxes in a column, times the columns. */
const MOST_FLOWS = 36

/**
 * The present traffic between identities and services as a list, for windows that are too narrow for the drawing: the most circuits first.
 */
export function FlowList({ traffic: { flows } }: { traffic: Traffic }) {
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
