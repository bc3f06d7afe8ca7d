import type { Apis } from '../api/apis.ts'
import { readList } from '../json/read-json.ts'
import { hrefOf } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { ChangesPart } from './changes-part.tsx'
import { EntityPage, Part } from './entity-page.tsx'
import { ReachPart } from './reach-part.tsx'

/** One service: who reaches it and by which policy, where it leaves the network, by which routers, who changed it. */
export function ServicePage({ apis, id }: { apis: Apis; id: string }) {
  const { management } = apis
  const params = { id }
  const answer = useAnswer(
    async (signal) => (await management.call('GET /services/{id}', { params, signal })).data,
    [apis, id],
  )
  const terminators = useAnswer(
    async (signal) =>
      (await management.call('GET /services/{id}/terminators', { params, query: { limit: 50 }, signal })).data,
    [apis, id],
  )
  const policies = useAnswer(
    (signal) => readList(apis, `services/${encodeURIComponent(id)}/service-edge-router-policies`, 0, signal),
    [apis, id],
  )
  return (
    <Loaded answer={answer}>
      {(service) => (
        <EntityPage
          one="service"
          kind="services"
          id={id}
          name={service.name}
          state={service.encryptionRequired ? 'encrypted from end to end' : 'not encrypted from end to end'}
          roleAttributes={service.roleAttributes ?? []}
          links={[
            { label: 'Why can…reach it?', href: hrefOf('why', { service: id }) },
            { label: 'What if…?', href: hrefOf('what-if', { change: 'edit', of: 'services', id }) },
            { label: 'Manage', href: hrefOf('manage', { kind: 'services', id }) },
          ]}
        >
          <ReachPart apis={apis} kind="services" id={id} />
          <div class="columns">
            <Part title="Hosts">
              <Loaded
                answer={terminators}
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
            <Part title="Edge routers by">
              <Loaded
                answer={policies}
                isEmpty={({ items }) => items.length === 0}
                empty="No service edge router policy: no edge router serves it."
              >
                {({ items }) => (
                  <ul class="plain">
                    {items.map((one) => (
                      <li key={one.id}>
                        <EntityLink kind="service-edge-router-policies" {...one} />
                      </li>
                    ))}
                  </ul>
                )}
              </Loaded>
            </Part>
          </div>
          <ChangesPart apis={apis} id={id} />
        </EntityPage>
      )}
    </Loaded>
  )
}
