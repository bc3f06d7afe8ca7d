import { visibleLine } from '../../../../../src/base/text.ts'
import { hrefOf } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { type Role, RoleLinks } from '../parts/entity-link.tsx'
import { NameList } from '../parts/found-list.tsx'
import { pluralName, timeText, wordsOf } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { EntityPage } from './entity-page.tsx'

/** The kinds that the role lists of each kind of policy select. */
const SIDES = {
  'service-policies': ['identities', 'services'],
  'edge-router-policies': ['identities', 'edge-routers'],
  'service-edge-router-policies': ['services', 'edge-routers'],
} as const

/** The members that show a role list, by the kind that it selects. */
const LISTS = {
  identities: 'identityRolesDisplay',
  services: 'serviceRolesDisplay',
  'edge-routers': 'edgeRouterRolesDisplay',
} as const

type RoleLists = Partial<
  Record<(typeof LISTS)[keyof typeof LISTS] | 'postureCheckRolesDisplay', readonly Role[] | null>
>

/** A policy of any kind: only service policies have a type, a term and posture checks. */
interface Policy extends RoleLists {
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
export function PolicyPage({ id, kind }: { id: string; kind: keyof typeof SIDES }) {
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
          {SIDES[kind].map((side) => (
            <Card key={side} title={wordsOf(pluralName(side, 2))}>
              <Roles kind={side} of={policy[LISTS[side]]} />
              <NameList
                kind={side}
                of={`${kind}/${id}/${side}`}
                empty="It selects nothing: the policy has no effect."
              />
            </Card>
          ))}
          {isOfServices && (
            <Card title="Posture checks">
              <Roles kind="posture-checks" of={policy.postureCheckRolesDisplay} />
            </Card>
          )}
        </div>
      )}
    </EntityPage>
  )
}

function Roles({ kind, of }: { kind: string; of: readonly Role[] | null | undefined }) {
  return (
    <p class="chips">
      <RoleLinks kind={kind} roles={of ?? []} />
    </p>
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
