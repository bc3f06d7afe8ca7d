import type { Apis } from '../api/apis.ts'
import { hrefOf } from '../navigation/place.ts'
import { type Role, RoleLinks } from '../parts/attribute-link.tsx'
import { type ListPage, NameList } from '../parts/name-list.tsx'
import { EntityPage, Part } from './entity-page.tsx'

interface Props {
  readonly apis: Apis
  readonly id: string
}

const NO_EFFECT = 'It selects nothing: the policy has no effect.'

/** One service policy: its entries with the identities and services that they select, its posture checks, and its changes. */
export function ServicePolicyPage({ apis, id }: Props) {
  const { management } = apis
  const params = { id }
  return (
    <EntityPage
      apis={apis}
      kind="service-policies"
      id={id}
      read={(request) => management.call('GET /service-policies/{id}', request)}
      head={({ name, type, semantic }) => ({
        name,
        state: `${type} · ${semanticText(semantic)}`,
        links: [
          { label: 'What if…', href: hrefOf('what-if', { change: 'edit', of: 'service-policies', id }) },
          { label: 'Manage', href: hrefOf('manage', { kind: 'service-policies', id }) },
        ],
      })}
    >
      {(policy) => (
        <div class="columns">
          <Side
            title="Identities"
            kind="identities"
            roles={policy.identityRolesDisplay}
            reasons={[apis, id]}
            read={(page) => management.call('GET /service-policies/{id}/identities', { params, ...page })}
          />
          <Side
            title="Services"
            kind="services"
            roles={policy.serviceRolesDisplay}
            reasons={[apis, id]}
            read={(page) => management.call('GET /service-policies/{id}/services', { params, ...page })}
          />
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

/** One edge router policy: its identities and their edge routers. */
export function EdgeRouterPolicyPage({ apis, id }: Props) {
  const { management } = apis
  const params = { id }
  return (
    <RouterPolicyPage
      apis={apis}
      id={id}
      kind="edge-router-policies"
      title="Identities"
      of="identities"
      read={(request) => management.call('GET /edge-router-policies/{id}', request)}
      rolesOf={({ identityRolesDisplay }) => identityRolesDisplay}
      selected={(page) => management.call('GET /edge-router-policies/{id}/identities', { params, ...page })}
      edgeRouters={(page) => management.call('GET /edge-router-policies/{id}/edge-routers', { params, ...page })}
    />
  )
}

/** One service edge router policy: its services and their edge routers. */
export function ServiceEdgeRouterPolicyPage({ apis, id }: Props) {
  const { management } = apis
  const params = { id }
  return (
    <RouterPolicyPage
      apis={apis}
      id={id}
      kind="service-edge-router-policies"
      title="Services"
      of="services"
      read={(request) => management.call('GET /service-edge-router-policies/{id}', request)}
      rolesOf={({ serviceRolesDisplay }) => serviceRolesDisplay}
      selected={(page) => management.call('GET /service-edge-router-policies/{id}/services', { params, ...page })}
      edgeRouters={(page) =>
        management.call('GET /service-edge-router-policies/{id}/edge-routers', { params, ...page })
      }
    />
  )
}

/** A policy that gives edge routers to the entities of its other side. */
interface RouterPolicy {
  readonly name: string
  readonly semantic: string
  readonly isSystem?: boolean
  readonly edgeRouterRolesDisplay: readonly Role[]
}

interface RouterPolicyProps<T extends RouterPolicy> extends Props {
  readonly kind: string
  readonly title: string
  /** The kind of the other side. */
  readonly of: string
  readonly read: Parameters<typeof EntityPage<T>>[0]['read']
  readonly rolesOf: (policy: T) => readonly Role[]
  readonly selected: SideProps['read']
  readonly edgeRouters: SideProps['read']
}

function RouterPolicyPage<T extends RouterPolicy>(props: RouterPolicyProps<T>) {
  const { apis, id, kind, title, of, read, rolesOf, selected, edgeRouters } = props
  const reasons = [apis, id]
  return (
    <EntityPage
      apis={apis}
      kind={kind}
      id={id}
      read={read}
      head={({ name, semantic, isSystem }) => ({
        name,
        state: `${semanticText(semantic)}${isSystem ? ' · made by the controller for a router' : ''}`,
      })}
    >
      {(policy) => (
        <div class="columns">
          <Side title={title} kind={of} roles={rolesOf(policy)} reasons={reasons} read={selected} />
          <Side
            title="Edge routers"
            kind="edge-routers"
            roles={policy.edgeRouterRolesDisplay}
            reasons={reasons}
            read={edgeRouters}
          />
        </div>
      )}
    </EntityPage>
  )
}

interface SideProps {
  readonly title: string
  readonly kind: string
  readonly roles: readonly Role[] | null | undefined
  readonly reasons: readonly unknown[]
  readonly read: (page: ListPage) => ReturnType<Parameters<typeof NameList>[0]['read']>
}

/** One side of a policy: its entries, and the entities that they select now. */
function Side({ title, kind, roles, reasons, read }: SideProps) {
  return (
    <Part title={title}>
      <p class="chips">
        <RoleLinks kind={kind} roles={roles ?? []} />
      </p>
      <NameList kind={kind} reasons={reasons} read={read} empty={NO_EFFECT} />
    </Part>
  )
}

function semanticText(semantic: string): string {
  return semantic === 'AllOf' ? 'selects who has all of the role attributes' : 'selects by any of the entries'
}
