import { visibleLine } from '../../../../../src/base/text.ts'
import { hrefOf } from '../navigation/place.ts'
import { type Role, RoleLinks } from '../parts/attribute-link.tsx'
import { NameList } from '../parts/name-list.tsx'
import { timeText } from '../parts/time-text.ts'
import { useApis } from '../session/use-apis.ts'
import { EntityPage, Part } from './entity-page.tsx'

interface Props {
  readonly id: string
}

const NO_EFFECT = 'It selects nothing: the policy has no effect.'

/** One service policy: its entries with the identities and services that they select, its posture checks, and its changes. */
export function ServicePolicyPage({ id }: Props) {
  const { management } = useApis()
  const own = `service-policies/${id}`
  return (
    <EntityPage
      kind="service-policies"
      id={id}
      read={(request) => management.call('GET /service-policies/{id}', request)}
      head={({ name, type, semantic, ...term }) => ({
        name,
        state: `${type} · ${semanticText(semantic)}${termText(term)}`,
        links: [
          { label: 'What if…', href: hrefOf('what-if', { change: 'edit', of: 'service-policies', id }) },
          { label: 'Manage', href: hrefOf('manage', { kind: 'service-policies', id }) },
        ],
      })}
    >
      {(policy) => (
        <div class="columns">
          <Side title="Identities" kind="identities" of={own} roles={policy.identityRolesDisplay} />
          <Side title="Services" kind="services" of={own} roles={policy.serviceRolesDisplay} />
          <Part title="Posture checks">
            <p class="chips">
              <RoleLinks kind="posture-checks" roles={policy.postureCheckRolesDisplay ?? []} />
            </p>
          </Part>
        </div>
      )}
    </EntityPage>
  )
}

/** A policy that gives edge routers to the entities of its other side, which are identities or services. */
export function RouterPolicyPage({ id, kind }: Props & { readonly kind: RouterPolicyKind }) {
  const { management } = useApis()
  const own = `${kind}/${id}`
  return (
    <EntityPage<RouterPolicy>
      kind={kind}
      id={id}
      read={(request) =>
        kind === 'edge-router-policies'
          ? management.call('GET /edge-router-policies/{id}', request)
          : management.call('GET /service-edge-router-policies/{id}', request)
      }
      head={({ name, semantic, isSystem }) => ({
        name,
        state: `${semanticText(semantic)}${isSystem ? ' · made by the controller for a router' : ''}`,
      })}
    >
      {(policy) => (
        <div class="columns">
          {kind === 'edge-router-policies' ? (
            <Side title="Identities" kind="identities" of={own} roles={policy.identityRolesDisplay} />
          ) : (
            <Side title="Services" kind="services" of={own} roles={policy.serviceRolesDisplay} />
          )}
          <Side title="Edge routers" kind="edge-routers" of={own} roles={policy.edgeRouterRolesDisplay} />
        </div>
      )}
    </EntityPage>
  )
}

type RouterPolicyKind = 'edge-router-policies' | 'service-edge-router-policies'

interface RouterPolicy {
  readonly name: string
  readonly semantic: string
  readonly isSystem?: boolean
  readonly identityRolesDisplay?: readonly Role[]
  readonly serviceRolesDisplay?: readonly Role[]
  readonly edgeRouterRolesDisplay: readonly Role[]
}

interface SideProps {
  readonly title: string
  readonly kind: string
  /** The path of the policy. */
  readonly of: string
  readonly roles: readonly Role[] | null | undefined
}

/** One side of a policy: its entries, and the entities that they select now. */
function Side({ title, kind, of, roles }: SideProps) {
  return (
    <Part title={title}>
      <p class="chips">
        <RoleLinks kind={kind} roles={roles ?? []} />
      </p>
      <NameList kind={kind} of={`${of}/${kind}`} empty={NO_EFFECT} />
    </Part>
  )
}

interface Term {
  readonly phase?: string | null
  readonly startsAt?: string | null
  readonly until?: string | null
  readonly reason?: string | null
}

/** The time for which a policy grants, and why; empty for a policy without either. */
function termText({ phase, startsAt, until, reason }: Term): string {
  const parts = [
    [phase?.replace('-', ' '), startsAt && ` from ${timeText(startsAt)}`, until && ` until ${timeText(until)}`],
    [reason && `because: ${visibleLine(reason)}`],
  ]
  return parts
    .map((words) => words.filter(Boolean).join(''))
    .reduce((all, text) => (text ? `${all} · ${text}` : all), '')
}

function semanticText(semantic: string): string {
  return semantic === 'AllOf' ? 'selects who has all of the role attributes' : 'selects by any of the entries'
}
