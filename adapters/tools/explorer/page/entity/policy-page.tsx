import { visibleLine } from '../../../../../src/base/text.ts'
import { hrefOf } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { type Role, RoleLinks } from '../parts/entity-link.tsx'
import { NameList } from '../parts/found-list.tsx'
import { pluralName, ROLE_LISTS, SELECTED_BY, timeText, wordsOf } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { EntityPage } from './entity-page.tsx'

/** A policy of any kind: only service policies have a type, a term and posture checks. */
interface Policy extends Partial<Record<`${keyof typeof SELECTED_BY}Display`, readonly Role[] | null>> {
  readonly name: string
  readonly semantic: string
  readonly type?: string
  readonly phase?: string | null
  readonly startsAt?: string | null
  readonly until?: string | null
  readonly reason?: string | null
  readonly isSystem?: boolean
}

/** One policy: its entries with the entities that they select, its term, its posture checks, and its changes. */
export function PolicyPage({ id, kind }: { id: string; kind: keyof typeof ROLE_LISTS }) {
  const { management } = useApis()
  const isOfServices = kind === 'service-policies'
  const links = [
    { label: 'What if…', href: hrefOf('what-if', { change: 'edit', of: kind, id }) },
    { label: 'Manage', href: hrefOf('manage', { kind, id }) },
  ]
  return (
    <EntityPage<Policy>
      kind={kind}
      id={id}
      read={(request) => management.call(`GET /${kind}/{id}`, request)}
      head={(policy) => ({ name: policy.name, state: stateOf(policy), links: isOfServices ? links : [] })}
    >
      {(policy) => (
        <div class="columns">
          {ROLE_LISTS[kind].map((list) => (
            <Card key={list} title={wordsOf(pluralName(SELECTED_BY[list], 2))}>
              <p class="chips">
                <RoleLinks kind={SELECTED_BY[list]} roles={policy[`${list}Display`] ?? []} />
              </p>
              {list !== 'postureCheckRoles' && (
                <NameList
                  kind={SELECTED_BY[list]}
                  of={`${kind}/${id}/${SELECTED_BY[list]}`}
                  empty="It selects nothing: the policy has no effect."
                />
              )}
            </Card>
          ))}
        </div>
      )}
    </EntityPage>
  )
}

function stateOf({ type, semantic, phase, startsAt, until, reason, isSystem }: Policy): string {
  const term = [
    phase?.replace('-', ' '),
    startsAt && `from ${timeText(startsAt)}`,
    until && `until ${timeText(until)}`,
  ].filter(Boolean)
  const facts = [
    type,
    semantic === 'AllOf' ? 'selects who has all of the role attributes' : 'selects by any of the entries',
    term.join(' '),
    reason && `because: ${visibleLine(reason)}`,
    isSystem && 'made by the controller for a router',
  ]
  return facts.filter(Boolean).join(' · ')
}
