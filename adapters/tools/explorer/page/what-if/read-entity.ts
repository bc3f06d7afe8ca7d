import { givingRoleAttribute } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import type { Chip } from '../parts/chip.ts'
import type { Change, GroupChange, PolicyDraft } from './change.ts'

type AttributeChange = Extract<Change, { readonly kind: 'identities' | 'services' }>

/** An identity or a service as a change that changes nothing yet. */
export async function readAttributes(
  { management }: Apis,
  kind: AttributeChange['kind'],
  id: string,
): Promise<AttributeChange> {
  const params = { id }
  const { data } =
    kind === 'identities'
      ? await management.call('GET /identities/{id}', { params })
      : await management.call('GET /services/{id}', { params })
  const before = data.roleAttributes ?? []
  return { kind, action: 'update', id: data.id, name: data.name, before, roleAttributes: before }
}

/** As many policies are read at once. */
const MOST_POLICIES = 500

/** The effect of giving a role attribute to every holder of another role attribute. */
export async function readGroupChange(
  { management, portcullis }: Apis,
  holders: string,
  roleAttribute: string,
): Promise<GroupChange> {
  const filter = `anyOf(identityRoles) = ${JSON.stringify(`#${roleAttribute}`)}`
  const { data } = await management.call('GET /service-policies', { query: { filter, limit: MOST_POLICIES } })
  const changes = givingRoleAttribute(data, { holders, roleAttribute })
  const scope = JSON.stringify([{ any: [holders] }, { none: [roleAttribute] }])
  const { count } = (
    await portcullis.call('GET /access-map/members', { query: { kind: 'identities', scope, limit: '1' } })
  ).data
  // They are in the words of the requests that the simulation takes.
  return { kind: 'group', action: 'give', holders, roleAttribute, count, tried: changes as GroupChange['tried'] }
}

interface NamedRole {
  readonly role: string
  readonly name: string
}

/** An entity that may be changed, as a change that changes nothing yet. */
export async function readChange(apis: Apis, kind: string, id: string): Promise<Change> {
  if (kind !== 'service-policies') return readAttributes(apis, kind === 'services' ? 'services' : 'identities', id)
  const policy = await readPolicy(apis, id)
  return { kind, action: 'update', id, name: policy.name, before: policy, policy }
}

/** A service policy as it may be edited. */
export async function readPolicy({ management }: Apis, id: string): Promise<PolicyDraft> {
  const { data } = await management.call('GET /service-policies/{id}', { params: { id } })
  return {
    name: data.name,
    type: data.type === 'Bind' ? 'Bind' : 'Dial',
    semantic: data.semantic,
    identityRoles: chipsOf(data.identityRoles, data.identityRolesDisplay),
    serviceRoles: chipsOf(data.serviceRoles, data.serviceRolesDisplay),
    postureCheckRoles: chipsOf(data.postureCheckRoles, data.postureCheckRolesDisplay),
  }
}

function chipsOf(roles: readonly string[] | null, shown: readonly NamedRole[] | null): readonly Chip[] {
  return (roles ?? []).map((value) => ({ value, name: shown?.find(({ role }) => role === value)?.name ?? value }))
}
