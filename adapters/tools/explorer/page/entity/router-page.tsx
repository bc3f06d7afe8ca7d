import { Loaded } from '../parts/loaded.tsx'
import { useApis } from '../session/session.ts'
import { CircuitsPart } from '../traffic/circuits-part.tsx'
import { LinksPart } from '../traffic/traffic-now.tsx'
import { DOTS, stateWord, useTraffic } from '../traffic/use-traffic.ts'
import { EntityPage, NamesPart } from './entity-page.tsx'

/** One edge router: whether it is connected, its traffic, and the identities and services that its policies give it. */
export function RouterPage({ id }: { id: string }) {
  const { management } = useApis()
  return (
    <EntityPage
      kind="edge-routers"
      id={id}
      read={(request) => management.call('GET /edge-routers/{id}', request)}
      head={({ name, isOnline, hostname, isVerified, roleAttributes }) => {
        const state = stateWord({ isOnline, isEnrolled: isVerified })
        return {
          name,
          state: (
            <>
              <span class={DOTS[state]} /> {state}
              {hostname && ` as ${hostname}`}
            </>
          ),
          roleAttributes: roleAttributes ?? [],
        }
      }}
    >
      {() => (
        <>
          <CircuitsPart of={{ router: id }} />
          <LinksOf id={id} />
          <div class="columns">
            {LISTS.map(([title, kind, empty = 'None.']) => (
              <NamesPart key={kind} title={title} kind={kind} of={`edge-routers/${id}/${kind}`} empty={empty} />
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
function LinksOf({ id: router }: { id: string }) {
  const answer = useTraffic({ router })
  return (
    <Loaded answer={answer} isQuiet>
      {(traffic) => <LinksPart traffic={traffic} />}
    </Loaded>
  )
}
