import { isOfAny, isOfKind, isOfNetwork } from '../events/network-event.ts'
import { hrefOf } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { useApis } from '../session/session.ts'
import { CircuitsPart } from '../traffic/circuits-part.tsx'
import { EntityPage, ListPart, NamesPart } from './entity-page.tsx'
import { ReachPart } from './reach-part.tsx'

/** One service: the identities that reach it with their policies, its terminators, its routers and its changes. */
export function ServicePage({ id }: { id: string }) {
  const { management } = useApis()
  return (
    <EntityPage
      kind="services"
      id={id}
      read={(request) => management.call('GET /services/{id}', request)}
      head={({ name, encryptionRequired, roleAttributes }) => ({
        name,
        state: encryptionRequired ? 'encrypted from end to end' : 'not encrypted from end to end',
        roleAttributes: roleAttributes ?? [],
        links: [
          { label: 'Why … reaches it', href: hrefOf('why', { service: id }) },
          { label: 'What if…', href: hrefOf('what-if', { change: 'edit', of: 'services', id }) },
          { label: 'Manage', href: hrefOf('manage', { kind: 'services', id }) },
        ],
      })}
    >
      {({ configs }) => (
        <>
          <ReachPart kind="services" id={id} />
          <CircuitsPart of={{ service: id }} />
          <div class="columns">
            <Hosts id={id} />
            <NamesPart
              title="Carried by edge routers"
              kind="edge-routers"
              of={`services/${id}/edge-routers`}
              empty="No service edge router policy: no edge router carries it."
            />
            <NamesPart
              title="Service edge router policies"
              kind="service-edge-router-policies"
              of={`services/${id}/service-edge-router-policies`}
            />
            {(configs ?? []).length > 0 && <NamesPart title="Configs" kind="configs" of={`services/${id}/configs`} />}
          </div>
        </>
      )}
    </EntityPage>
  )
}

const MOST_HOSTS = 50

function Hosts({ id }: { id: string }) {
  const { management } = useApis()
  const request = { params: { id }, query: { limit: MOST_HOSTS } }
  return (
    <ListPart
      title="Hosts"
      empty="Nothing hosts it: a dial leads nowhere. Who may bind it is listed above."
      reasons={[management, id]}
      concerns={isOfAny(isOfNetwork, isOfKind('terminators'))}
      read={(signal) => management.call('GET /services/{id}/terminators', { ...request, signal })}
      keyOf={(one) => one.id}
    >
      {(one) => (
        <>
          <EntityLink kind="edge-routers" id={one.routerId} name={one.router?.name} />{' '}
          <span class="muted">
            {one.binding} {one.address}, cost {one.cost}, {one.precedence}
          </span>
        </>
      )}
    </ListPart>
  )
}
