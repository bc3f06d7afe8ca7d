import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { timeText } from '../parts/time-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { ChangesPart } from './changes-part.tsx'
import { EntityPage, Part } from './entity-page.tsx'
import { PosturePart } from './posture-part.tsx'
import { ReachPart } from './reach-part.tsx'

/** One identity: what it reaches, what was refused, what it proves itself by, its sessions, its posture, who changed it. */
export function IdentityPage({ apis, id }: { apis: Apis; id: string }) {
  const { management } = apis
  const params = { id }
  const answer = useAnswer(
    async (signal) => (await management.call('GET /identities/{id}', { params, signal })).data,
    [apis, id],
  )
  const refused = useAnswer(
    async (signal) => (await management.call('GET /identities/{id}/failed-service-requests', { params, signal })).data,
    [apis, id],
  )
  const credentials = useAnswer(
    async (signal) => (await management.call('GET /identities/{id}/authenticators', { params, signal })).data,
    [apis, id],
  )
  const sessions = useAnswer(
    async (signal) => {
      const query = { filter: `identity = ${JSON.stringify(id)}`, sort: 'createdAt desc', limit: 20 }
      return (await management.call('GET /api-sessions', { query, signal })).data
    },
    [apis, id],
  )
  return (
    <Loaded answer={answer}>
      {(identity) => (
        <EntityPage
          one="identity"
          kind="identities"
          id={id}
          name={identity.name}
          state={`${identity.typeId}${identity.isAdmin ? ', administrator' : ''} · ${stateOf(identity)}`}
          roleAttributes={identity.roleAttributes ?? []}
          links={[
            { label: 'Why can it reach…?', href: hrefOf('why', { identity: id }) },
            { label: 'What if…?', href: hrefOf('what-if', { change: 'edit', of: 'identities', id }) },
            { label: 'Manage', href: hrefOf('manage', { kind: 'identities', id }) },
          ]}
        >
          <ReachPart apis={apis} kind="identities" id={id} />
          <div class="columns">
            <Part title="Refused lately by posture">
              <Loaded answer={refused} isEmpty={(list) => list.length === 0}>
                {(list) => (
                  <ul class="plain">
                    {list.toReversed().map((one) => (
                      <li key={`${one.when} ${one.serviceId}`}>
                        {timeText(String(one.when))}{' '}
                        <EntityLink kind="services" id={one.serviceId} name={one.serviceName} />{' '}
                        <a href={hrefOf('why', { identity: id, service: one.serviceId })}>why</a>
                      </li>
                    ))}
                  </ul>
                )}
              </Loaded>
            </Part>
            <PosturePart apis={apis} id={id} />
            <Part title="Credentials">
              <Loaded answer={credentials} isEmpty={(list) => list.length === 0} empty="None: it cannot log in yet.">
                {(list) => (
                  <ul class="plain">
                    {list.map((one) => (
                      <li key={one.id}>
                        {{ cert: 'certificate', updb: 'password' }[String(one.method)] ?? String(one.method)},{' '}
                        <span class="muted">since {timeText(String(one.createdAt))}</span>
                      </li>
                    ))}
                  </ul>
                )}
              </Loaded>
            </Part>
            <Part title="API sessions">
              <Loaded answer={sessions} isEmpty={(list) => list.length === 0}>
                {(list) => (
                  <ul class="plain">
                    {list.map((one) => (
                      <li key={one.id}>
                        from {one.ipAddress || 'an unknown address'}, began {timeText(String(one.createdAt))},{' '}
                        <span class="muted">last seen {timeText(String(one.lastActivityAt))}</span>
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

function stateOf({ disabled, hasApiSession }: { disabled: boolean; hasApiSession: boolean }): string {
  return disabled ? 'disabled' : hasApiSession ? 'logged in' : 'not logged in'
}
