import type { Apis } from '../api/apis.ts'
import { isOfTraffic } from '../events/network-event.ts'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useEvery } from '../parts/use-every.ts'
import { CircuitsPart, READ_EVERY_MS } from '../traffic/circuits-part.tsx'
import { LinksPart } from '../traffic/links-part.tsx'
import { EntityPage, NamesPart } from './entity-page.tsx'

/** One edge router: whether it is connected, its traffic, and the identities and services that its policies give it. */
export function RouterPage({ apis, id }: { apis: Apis; id: string }) {
  const { management } = apis
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
            {LISTS.map(([title, kind, empty = 'None.']) => (
              <NamesPart
                key={kind}
                apis={apis}
                title={title}
                kind={kind}
                of={`edge-routers/${id}/${kind}`}
                empty={empty}
              />
            ))}
          </div>
        </>
      )}
    </EntityPage>
  )
}

const LISTS: readonly (readonly [title: string, kind: string, empty?: string])[] = [
  ['Identities that may connect', 'identities', 'None: no edge router policy selects it.'],
  ['Services that it carries', 'services', 'None: no service edge router policy selects it.'],
  ['Edge router policies', 'edge-router-policies'],
  ['Service edge router policies', 'service-edge-router-policies'],
]

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
