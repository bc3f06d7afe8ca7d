import { deleteOf, rowOf } from '../api/read-json.ts'
import { isOfAny, isOfIdentity, isOfNetwork } from '../events/network-event.ts'
import { hrefOf } from '../navigation/place.ts'
import { ActionButton } from '../parts/action.tsx'
import { EntityLink, Time } from '../parts/entity-link.tsx'
import { may, useApis } from '../session/session.ts'
import { identityState } from '../table/table-kinds.ts'
import { CircuitsPart } from '../traffic/circuits-part.tsx'
import { EntityPage, ListPart, NamesPart } from './entity-page.tsx'
import { GrantsPart } from './grants-part.tsx'
import { PosturePart } from './posture-part.tsx'
import { ReachPart } from './reach-part.tsx'

interface Props {
  readonly id: string
}

/** One identity: the services that it reaches, its refusals, its authenticators, its sessions, its posture and its changes. */
export function IdentityPage({ id }: Props) {
  const { management } = useApis()
  return (
    <EntityPage
      kind="identities"
      id={id}
      read={(request) => management.call('GET /identities/{id}', request)}
      concerns={isOfAny(isOfNetwork, isOfIdentity(id))}
      head={(identity) => ({
        name: identity.name,
        state: `${identity.typeId}${identity.isAdmin ? ', administrator' : ''} · ${identityState(rowOf(identity)).word}`,
        roleAttributes: identity.roleAttributes ?? [],
        links: [
          { label: 'Why it reaches…', href: hrefOf('why', { identity: id }) },
          { label: 'What if…', href: hrefOf('what-if', { change: 'edit', of: 'identities', id }) },
          {
            label: may('identity', 'update') ? 'Manage' : 'Invitation and state',
            href: hrefOf('manage', { kind: 'identities', id }),
          },
        ],
      })}
    >
      {(identity) => (
        <>
          <ReachPart kind="identities" id={id} />
          <CircuitsPart of={{ identity: id }} />
          <div class="columns">
            <GrantsPart identity={identity} />
            <Refused id={id} />
            <PosturePart id={id} />
            <Credentials id={id} />
            <ApiSessions id={id} />
            <NamesPart
              title="Edge routers that it may use"
              kind="edge-routers"
              of={`identities/${id}/edge-routers`}
              empty="None: no edge router policy selects it."
            />
          </div>
        </>
      )}
    </EntityPage>
  )
}

function Refused({ id }: Props) {
  const { management } = useApis()
  return (
    <ListPart
      title="Refused lately by posture"
      reasons={[management, id]}
      concerns={isOfIdentity(id)}
      read={async (signal) => {
        const { data } = await management.call('GET /identities/{id}/failed-service-requests', {
          params: { id },
          signal,
        })
        return { data: data.toReversed() }
      }}
      keyOf={(one) => `${one.when} ${one.serviceId}`}
    >
      {(one) => (
        <>
          <Time at={String(one.when)} /> <EntityLink kind="services" id={one.serviceId} name={one.serviceName} />{' '}
          <a href={hrefOf('why', { identity: id, service: one.serviceId })}>why</a>
        </>
      )}
    </ListPart>
  )
}

const METHODS: Readonly<Record<string, string>> = { cert: 'certificate', updb: 'password' }

function Credentials({ id }: Props) {
  const apis = useApis()
  const { management } = apis
  return (
    <ListPart
      title="Credentials"
      empty="None: it cannot log in yet."
      reasons={[management, id]}
      read={(signal) => management.call('GET /identities/{id}/authenticators', { params: { id }, signal })}
      keyOf={(one) => one.id}
    >
      {(one) => (
        <>
          {METHODS[String(one.method)] ?? String(one.method)},{' '}
          <span class="muted">
            since <Time at={String(one.createdAt)} />
          </span>{' '}
          {may('authenticator', 'delete') && (
            <ActionButton
              label="Revoke"
              question="Nobody logs in by it any more?"
              done="It is revoked."
              act={() => deleteOf(apis, 'authenticators', one.id)}
            />
          )}
        </>
      )}
    </ListPart>
  )
}

const MOST_SESSIONS = 20

function ApiSessions({ id }: Props) {
  const apis = useApis()
  const { management } = apis
  const query = { filter: `identity = ${JSON.stringify(id)}`, sort: 'createdAt desc', limit: MOST_SESSIONS }
  return (
    <ListPart
      title="API sessions"
      reasons={[management, id]}
      concerns={isOfIdentity(id)}
      read={(signal) => management.call('GET /api-sessions', { query, signal })}
      keyOf={(one) => one.id}
    >
      {(one) => (
        <>
          from {one.ipAddress || 'an unknown address'}, began <Time at={String(one.createdAt)} />,{' '}
          <span class="muted">
            last seen <Time at={String(one.lastActivityAt)} />
          </span>{' '}
          {may('ops', 'delete') && (
            <ActionButton label="End" done="It has ended." act={() => deleteOf(apis, 'api-sessions', one.id)} />
          )}
        </>
      )}
    </ListPart>
  )
}
