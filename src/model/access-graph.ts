import { textsIn } from '../base/members.ts'
import { type RoleSelector, selects } from '../base/roles.ts'
import type { AccessType } from '../facts/access/index/index.ts'
import type { ModelKey } from './managed-kinds.ts'
import type { Network } from './network-model.ts'

/** Entities that have the same role attributes and that the same policies select. */
export interface GraphGroup {
  readonly id: string
  readonly kind: 'identities' | 'services'
  readonly roleAttributes: readonly string[]
  readonly members: readonly string[]
}

/** All members of one group may dial or bind all members of another. */
export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly type: AccessType
  readonly policies: readonly string[]
  /** Every one of the policies demands posture of the endpoint. */
  readonly isGuarded: boolean
}

/** The access of groups of identities to groups of services. */
export interface AccessGraph {
  readonly identities: readonly GraphGroup[]
  readonly services: readonly GraphGroup[]
  readonly edges: readonly GraphEdge[]
}

interface Policy {
  readonly name: string
  readonly type: AccessType
  readonly identities: RoleSelector
  readonly services: RoleSelector
  readonly isGuarded: boolean
}

/**
 * Draws up the dial and bind rights of a network, with one group for entities of the same role attributes. Where a policy names single
 * entities of such a group, the group is divided, so that every edge is true of all members.
 *
 * @example
 * const graph = accessGraph(await readNetwork(admin))
 * console.log(mermaid(graph))
 */
export function accessGraph(network: Network): AccessGraph {
  const policies = network.all('servicePolicies').map(({ name, body }): Policy => {
    const semantic = body.semantic === 'AllOf' ? 'AllOf' : 'AnyOf'
    return {
      name,
      type: body.type === 'Bind' ? 'Bind' : 'Dial',
      identities: { roles: textsIn(body.identityRoles), semantic },
      services: { roles: textsIn(body.serviceRoles), semantic },
      isGuarded: textsIn(body.postureCheckRoles).length > 0,
    }
  })
  const identities = groups(network, 'identities', policies)
  const services = groups(network, 'services', policies)
  const edges = identities.flatMap((from) => services.flatMap((to) => edgesBetween(from, to, policies)))
  return { identities: identities.map(({ group }) => group), services: services.map(({ group }) => group), edges }
}

interface SelectedGroup {
  readonly group: GraphGroup
  readonly selectedBy: ReadonlySet<string>
}

function groups(
  network: Network,
  kind: 'identities' | ('services' & ModelKey),
  policies: readonly Policy[],
): readonly SelectedGroup[] {
  const byKey = new Map<string, { roleAttributes: readonly string[]; members: string[]; selectedBy: Set<string> }>()
  for (const { name, body, isKept } of network.all(kind)) {
    const roleAttributes = textsIn(body.roleAttributes).toSorted()
    const selected = policies.filter((policy) => selects(policy[kind], { id: name, roleAttributes }))
    // The controller's own entities are left out until a policy gives them access.
    if (isKept && selected.length === 0) continue
    const names = selected.map((policy) => policy.name)
    const key = JSON.stringify([roleAttributes, names])
    const known = byKey.get(key) ?? { roleAttributes, members: [], selectedBy: new Set(names) }
    known.members.push(name)
    byKey.set(key, known)
  }
  return [...byKey.values()]
    .map((group) => ({ ...group, members: group.members.toSorted() }))
    .toSorted(
      (a, b) => compare(a.roleAttributes.join(), b.roleAttributes.join()) || compare(a.members[0], b.members[0]),
    )
    .map(({ selectedBy, ...group }, position) => ({
      group: { id: `${kind === 'identities' ? 'i' : 's'}${position + 1}`, kind, ...group },
      selectedBy,
    }))
}

function compare(one = '', other = ''): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function edgesBetween(from: SelectedGroup, to: SelectedGroup, policies: readonly Policy[]): readonly GraphEdge[] {
  const both = policies.filter(({ name }) => from.selectedBy.has(name) && to.selectedBy.has(name))
  return (['Dial', 'Bind'] as const).flatMap((type) => {
    const granting = both.filter((policy) => policy.type === type)
    if (granting.length === 0) return []
    const names = granting.map(({ name }) => name)
    const isGuarded = granting.every((policy) => policy.isGuarded)
    return [{ from: from.group.id, to: to.group.id, type, policies: names, isGuarded }]
  })
}
