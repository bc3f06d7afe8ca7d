import type { Apis } from '../api/apis.ts'
import { isOfTraffic } from '../events/network-event.ts'
import { Loaded } from '../parts/loaded.tsx'
import { NameList } from '../parts/name-list.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useEvery } from '../parts/use-every.ts'
import { CircuitsPart, READ_EVERY_MS } from '../traffic/circuits-part.tsx'
import { LinksPart } from '../traffic/links-part.tsx'
import { EntityPage, Part } from './entity-page.tsx'

/** One edge router: whether it is connected, its traffic, and the identities and services that its policies give it. */
export function RouterPage({ apis, id }: { apis: Apis; id: string }) {
  const { management } = apis
  const params = { id }
  const reasons = [apis, id]
  return (
    <EntityPage
      apis={apis}
      kind="edge-routers"
      id={id}
      read={(request) => management.call('GET /edge-routers/{id}', request)}
      head={({ name, isOnline, hostname, isVerified, roleAttributes }) => ({
        name,
        state: (
          <>
            <span class={`dot ${isOnline ? 'dot-online' : 'dot-down'}`} /> {isOnline ? 'online' : 'offline'}
            {hostname && ` as ${hostname}`}
            {isVerified ? '' : ', not enrolled'}
          </>
        ),
        roleAttributes: roleAttributes ?? [],
      })}
    >
      {() => (
        <>
          <CircuitsPart apis={apis} of={{ router: id }} />
          <LinksOf apis={apis} id={id} />
          <div class="columns">
            <Part title="Identities that may connect">
              <NameList
                kind="identities"
                reasons={reasons}
                read={(page) => management.call('GET /edge-routers/{id}/identities', { params, ...page })}
                empty="None: no edge router policy selects it."
              />
            </Part>
            <Part title="Services that it carries">
              <NameList
                kind="services"
                reasons={reasons}
                read={(page) => management.call('GET /edge-routers/{id}/services', { params, ...page })}
                empty="None: no service edge router policy selects it."
              />
            </Part>
            <Part title="Edge router policies">
              <NameList
                kind="edge-router-policies"
                reasons={reasons}
                read={(page) => management.call('GET /edge-routers/{id}/edge-router-policies', { params, ...page })}
                empty="None."
              />
            </Part>
            <Part title="Service edge router policies">
              <NameList
                kind="service-edge-router-policies"
                reasons={reasons}
                read={(page) =>
                  management.call('GET /edge-routers/{id}/service-edge-router-policies', { params, ...page })
                }
                empty="None."
              />
            </Part>
          </div>
        </>
      )}
    </EntityPage>
  )
}

/** The links of one router. */
function LinksOf({ apis, id: router }: { apis: Apis; id: string }) {
  const answer = useAnswer(
    async (signal) => (await apis.portcullis.call('GET /traffic', { query: { router, limit: '1' }, signal })).data,
    [apis, router, useEvery(READ_EVERY_MS)],
    isOfTraffic,
  )
  return (
    <Loaded answer={answer} isQuiet>
      {(traffic) => <LinksPart traffic={traffic} />}
    </Loaded>
  )
}
