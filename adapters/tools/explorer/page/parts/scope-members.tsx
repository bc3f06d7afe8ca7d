import { useApis } from '../session/use-apis.ts'
import { EntityLink } from './entity-link.tsx'
import { Loaded } from './loaded.tsx'
import { numberText } from './number-text.ts'
import { useFound } from './use-found.tsx'

interface Props {
  readonly kind: 'identities' | 'services' | 'edge-routers'
  /** As the access map has it. */
  readonly scope: string
}

/** The members of a scope, found by a part of the name and page by page. */
export function ScopeMembers({ kind, scope }: Props) {
  const apis = useApis()
  const { answer, field, pager } = useFound(
    'Find a member',
    (wanted, signal) => apis.portcullis.call('GET /access-map/members', { query: { kind, scope, ...wanted }, signal }),
    [apis, kind, scope],
  )
  return (
    <>
      {field}
      <Loaded answer={answer} isEmpty={({ members }) => members.length === 0} empty="Nobody is called so.">
        {({ count, members }) => (
          <>
            <p class="muted">{numberText(count)} in all</p>
            <ul class="members">
              {members.map(({ id, name, status }) => (
                <li key={id}>
                  {status && <span class={`dot dot-${status}`} title={status} />}
                  <EntityLink kind={kind} id={id} name={name} />
                </li>
              ))}
            </ul>
            {pager}
          </>
        )}
      </Loaded>
    </>
  )
}
