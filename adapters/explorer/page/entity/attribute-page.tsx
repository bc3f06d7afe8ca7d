import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { ScopeMembers } from '../parts/scope-members.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { EntityPage, Part } from './entity-page.tsx'

const KINDS = ['identities', 'services', 'edge-routers'] as const

/** One role attribute: who has it, and which service policies select by it. */
export function AttributePage({ apis, kind: text, attribute }: { apis: Apis; kind: string; attribute: string }) {
  const kind = KINDS.find((one) => one === text) ?? 'identities'
  const field = kind === 'services' ? 'serviceRoles' : 'identityRoles'
  const policies = useAnswer(
    async (signal) => {
      const query = { filter: `anyOf(${field}) = ${JSON.stringify(`#${attribute}`)}`, limit: 100, sort: 'name' }
      return (await apis.management.call('GET /service-policies', { query, signal })).data
    },
    [apis, field, attribute],
  )
  return (
    <EntityPage
      one={`role attribute of ${kind.replaceAll('-', ' ')}`}
      kind={kind}
      id=""
      name={`#${attribute}`}
      links={
        kind === 'identities'
          ? [
              {
                label: 'What if they had another one too?',
                href: hrefOf('what-if', { group: attribute }),
              },
            ]
          : []
      }
    >
      <div class="columns">
        <Part title="Who has it">
          <ScopeMembers apis={apis} kind={kind} scope={JSON.stringify([{ any: [attribute] }])} />
        </Part>
        {kind !== 'edge-routers' && (
          <Part title="Service policies that select by it">
            <Loaded answer={policies} isEmpty={(list) => list.length === 0} empty="None: it gives nothing.">
              {(list) => (
                <ul class="plain">
                  {list.map((one) => (
                    <li key={one.id}>
                      <EntityLink kind="service-policies" id={one.id} name={one.name} />{' '}
                      <span class="muted">{one.type}</span>
                    </li>
                  ))}
                </ul>
              )}
            </Loaded>
          </Part>
        )}
      </div>
    </EntityPage>
  )
}
