import type { Apis } from '../api/apis.ts'
import { rowOf } from '../api/read-json.ts'
import { isOfAny, isOfIdentity, isOfNetwork } from '../events/network-event.ts'
import { hrefOf } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { NameList } from '../parts/name-list.tsx'
import { Time } from '../parts/time.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { may } from '../session/session.ts'
import { identityState } from '../table/table-kinds.ts'
import { CircuitsPart } from '../traffic/circuits-part.tsx'
import { EntityPage, Part } from './entity-page.tsx'
import { GrantsPart } from './grants-part.tsx'
import { PosturePart } from './posture-part.tsx'
import { ReachPart } from './reach-part.tsx'

interface Props {
  readonly apis: Apis
  readonly id: string
}

/** One identity: the services that it reaches, its refusals, its authenticators, its sessions, its posture and its changes. */
export function IdentityPage({ apis, id }: Props) {
  const { management } = apis
  const params = { id }
  return (
    <EntityPage
      apis={apis}
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
          <ReachPart apis={apis} kind="identities" id={id} />
          <CircuitsPart apis={apis} of={{ identity: id }} />
          <div class="columns">
            <GrantsPart apis={apis} identity={identity} />
            <Refused apis={apis} id={id} />
            <PosturePart apis={apis} id={id} />
            <Credentials apis={apis} id={id} />
            <ApiSessions apis={apis} id={id} />
            <Part title="Edge routers that it may use">
              <NameList
                kind="edge-routers"
                reasons={[apis, id]}
                read={(page) => management.call('GET /identities/{id}/edge-routers', { params, ...page })}
                empty="None: no edge router policy selects it."
              />
            </Part>
          </div>
        </>
      )}
    </EntityPage>
  )
}

function Refused({ apis: { management }, id }: Props) {
  const answer = useAnswer(
    async (signal) =>
      (await management.call('GET /identities/{id}/failed-service-requests', { params: { id }, signal })).data,
    [management, id],
    isOfIdentity(id),
  )
  return (
    <Part title="Refused lately by posture">
      <Loaded answer={answer} isEmpty={(list) => list.length === 0}>
        {(list) => (
          <ul class="plain">
            {list.toReversed().map((one) => (
              <li key={`${one.when} ${one.serviceId}`}>
                <Time at={String(one.when)} /> <EntityLink kind="services" id={one.serviceId} name={one.serviceName} />{' '}
                <a href={hrefOf('why', { identity: id, service: one.serviceId })}>why</a>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Part>
  )
}

const METHODS: Readonly<Record<string, string>> = { cert: 'certificate', updb: 'password' }

function Credentials({ apis: { management }, id }: Props) {
  const answer = useAnswer(
    async (signal) => (await management.call('GET /identities/{id}/authenticators', { params: { id }, signal })).data,
    [management, id],
  )
  return (
    <Part title="Credentials">
      <Loaded answer={answer} isEmpty={(list) => list.length === 0} empty="None: it cannot log in yet.">
        {(list) => (
          <ul class="plain">
            {list.map((one) => (
              <li key={one.id}>
                {METHODS[String(one.method)] ?? String(one.method)},{' '}
                <span class="muted">
                  since <Time at={String(one.createdAt)} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Part>
  )
}

const MOST_SESSIONS = 20

function ApiSessions({ apis: { management }, id }: Props) {
  const answer = useAnswer(
    async (signal) => {
      const filter = `identity = ${JSON.stringify(id)}`
      const query = { filter, sort: 'createdAt desc', limit: MOST_SESSIONS }
      return (await management.call('GET /api-sessions', { query, signal })).data
    },
    [management, id],
    isOfIdentity(id),
  )
  return (
    <Part title="API sessions">
      <Loaded answer={answer} isEmpty={(list) => list.length === 0}>
        {(list) => (
          <ul class="plain">
            {list.map((one) => (
              <li key={one.id}>
                from {one.ipAddress || 'an unknown address'}, began <Time at={String(one.createdAt)} />,{' '}
                <span class="muted">
                  last seen <Time at={String(one.lastActivityAt)} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Part>
  )
}
