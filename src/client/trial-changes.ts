/** The members of a service policy that decide which identities it selects. */
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
 * The changes that try out giving a role attribute to every identity that has another one, however many there are: a
 * policy that selects by the one then selects by the other too. They are for POST /simulate and not to be made.
 * `policies` are the service policies whose identity roles name `#` and the role attribute; both are without `#`.
 *
 * @example
 * const management = createManagementClient({ baseUrl: 'https://controller.example.org:1280', token })
 * const query = { filter: 'anyOf(identityRoles) = "#finance"' }
 * const { data: policies } = await management.call('GET /service-policies', { query })
 * const changes = givingRoleAttribute(policies, { holders: 'berlin', roleAttribute: 'finance' })
 * console.log(changes.length, 'policies would select more identities')
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
    // A further policy selects the identities that have all of the others and this one instead: one list cannot say both.
    const identityRoles = [...new Set(roles.map((role) => (role === given ? held : role)))]
    const [serviceRoles, postureCheckRoles] = [policy.serviceRoles ?? [], policy.postureCheckRoles ?? []]
    const body = { name: `${name} ${held}`, type, semantic, identityRoles, serviceRoles, postureCheckRoles }
    return [{ kind: 'service-policies', action: 'create', body }]
  })
}

/** A record of the audit trail, as far as it decides access. */
export interface RecordedChange {
  readonly type: string
  readonly entity: { readonly kind: string; readonly id: string } | null
  readonly changes: Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>
}

/** A change for POST /simulate. */
type TrialChange = { readonly kind: (typeof KINDS)[number]; readonly id: string } & (
  | { readonly action: 'create' | 'update'; readonly body: Record<string, unknown> }
  | { readonly action: 'delete' }
)

const KINDS = ['identities', 'services', 'service-policies'] as const
const FIELDS = ['name', 'type', 'semantic', 'roleAttributes', 'identityRoles', 'serviceRoles', 'postureCheckRoles']

/** The members that a new entity of a kind must have, as they are where a record leaves them out. */
const DEFAULTS: Readonly<Record<(typeof KINDS)[number], Readonly<Record<string, unknown>>>> = {
  identities: { name: 'deleted', type: 'Device', isAdmin: false },
  services: { name: 'deleted', encryptionRequired: true },
  'service-policies': { name: 'deleted', type: 'Dial', semantic: 'AnyOf' },
}

/**
 * The change that undoes a record of the audit trail, for POST /simulate: an identity that would gain access by it lost
 * it by the recorded change, in the network as it is now. Undefined for a record that decides no access.
 *
 * @example
 * const portcullis = createPortcullisClient({ baseUrl: 'https://controller.example.org:1280', token })
 * const { entries } = (await portcullis.call('GET /audit', { query: { limit: 1 } })).data
 * console.log(entries.map((entry) => takingBack(entry)))
 */
export function takingBack({ type, entity, changes }: RecordedChange): TrialChange | undefined {
  const kind = KINDS.find((one) => one === entity?.kind)
  if (kind === undefined || entity === null) return undefined
  const { id } = entity
  if (type === 'entity.created') return { kind, action: 'delete', id }
  const body: Record<string, unknown> = {}
  for (const field of FIELDS) {
    const change = changes[field]
    // A list that was empty is the default, which a record leaves out.
    const before = change?.before ?? (Array.isArray(change?.after) ? [] : undefined)
    if (before !== undefined) body[field] = before
  }
  if (Object.keys(body).length === 0) return undefined
  if (type === 'entity.updated') return { kind, action: 'update', id, body }
  return type === 'entity.deleted' ? { kind, action: 'create', id, body: { ...DEFAULTS[kind], ...body } } : undefined
}
