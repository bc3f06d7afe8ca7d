/** The members of a service policy that decide whom it selects. */
interface SelectingPolicy {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly semantic: string
  readonly identityRoles: readonly string[] | null
  readonly serviceRoles: readonly string[] | null
  readonly postureCheckRoles: readonly string[] | null
}

/** A change for POST /simulate. */
type PolicyChange = { readonly kind: 'service-policies'; readonly body: Record<string, unknown> } & (
  | { readonly action: 'update'; readonly id: string }
  | { readonly action: 'create' }
)

/**
 * The changes that try what would come of giving a role attribute to everybody who has another one, however many they are: what
 * selects by the one selects by the other too. They are for POST /simulate and not to be made. `policies` are the service
 * policies whose identity roles name `#` and the role attribute; both are without `#`.
 *
 * @example
 * const { data: policies } = await management.call('GET /service-policies', { query: { filter: 'anyOf(identityRoles) = "#finance"' } })
 * const changes = givingRoleAttribute(policies, { holders: 'berlin', roleAttribute: 'finance' })
 * await portcullis.call('POST /simulate', { body: { changes } })
 */
export function givingRoleAttribute(
  policies: readonly SelectingPolicy[],
  { holders, roleAttribute }: { readonly holders: string; readonly roleAttribute: string },
): PolicyChange[] {
  const [given, held] = [`#${roleAttribute}`, `#${holders}`]
  return policies.flatMap(({ id, name, type, semantic, ...policy }): PolicyChange[] => {
    const roles = policy.identityRoles ?? []
    if (!roles.includes(given) || roles.includes('#all')) return []
    if (semantic !== 'AllOf') {
      return [
        { kind: 'service-policies', action: 'update', id, body: { identityRoles: [...new Set([...roles, held])] } },
      ]
    }
    // Another policy for those who have all of the others and this one instead: one list cannot say both.
    const identityRoles = [...new Set(roles.map((role) => (role === given ? held : role)))]
    const [serviceRoles, postureCheckRoles] = [policy.serviceRoles ?? [], policy.postureCheckRoles ?? []]
    const body = { name: `${name} ${held}`, type, semantic, identityRoles, serviceRoles, postureCheckRoles }
    return [{ kind: 'service-policies', action: 'create', body }]
  })
}
