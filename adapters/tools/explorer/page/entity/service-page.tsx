import type { Apis } from '../api/apis.ts'
import { isOfAny, isOfKind, isOfNetwork } from '../events/network-event.ts'
import { hrefOf } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { NameList } from '../parts/name-list.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { CircuitsPart } from '../traffic/circuits-part.tsx'
import { EntityPage, Part } from './entity-page.tsx'
import { ReachPart } from './reach-part.tsx'

/** One service: the identities that reach it with their policies, its terminators, its routers and its changes. */
export function ServicePage({ apis, id }: { apis: Apis; id: string }) {
  const { management } = apis
  const params = { id }
  return (
    <EntityPage
      apis={apis}
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
          <ReachPart apis={apis} kind="services" id={id} />
          <CircuitsPart apis={apis} of={{ service: id }} />
          <div class="columns">
            <Hosts apis={apis} id={id} />
            <Part title="Carried by edge routers">
              <NameList
                kind="edge-routers"
                reasons={[apis, id]}
                read={(page) => management.call('GET /services/{id}/edge-routers', { params, ...page })}
                empty="No service edge router policy: no edge router carries it."
              />
            </Part>
            <Part title="Service edge router policies">
              <NameList
                kind="service-edge-router-policies"
                reasons={[apis, id]}
                read={(page) => management.call('GET /services/{id}/service-edge-router-policies', { params, ...page })}
                empty="None."
              />
            </Part>
            {(configs ?? []).length > 0 && (
              <Part title="Configs">
                <NameList
                  kind="configs"
                  reasons={[apis, id]}
                  read={(page) => management.call('GET /services/{id}/configs', { params, ...page })}
                  empty="None."
                />
              </Part>
            )}
          </div>
        </>
      )}
    </EntityPage>
  )
}

const MOST_HOSTS = 50

function Hosts({ apis: { management }, id }: { apis: Apis; id: string }) {
  const answer = useAnswer(
    async (signal) =>
      (
        await management.call('GET /services/{id}/terminators', {
          params: { id },
          query: { limit: MOST_HOSTS },
          signal,
        })
      ).data,
    [management, id],
    isOfAny(isOfNetwork, isOfKind('terminators')),
  )
  return (
    <Part title="Hosts">
      <Loaded
        answer={answer}
        isEmpty={(list) => list.length === 0}
        empty="Nothing hosts it: a dial leads nowhere. Who may bind it is listed above."
      >
        {(list) => (
          <ul class="plain">
            {list.map((one) => (
              <li key={one.id}>
                <EntityLink kind="edge-routers" id={one.routerId} name={one.router?.name} />{' '}
                <span class="muted">
                  {one.binding} {one.address}, cost {one.cost}, {one.precedence}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Part>
  )
}
