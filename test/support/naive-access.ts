import type {
  AccessIndex,
  AccessType,
  EdgeRoutersBetween,
  EntityKind,
  Grant,
  IndexedEntity,
  IndexedPolicy,
  PolicyKind,
} from 'portcullis/policy'

const sides: Record<PolicyKind, readonly EntityKind[]> = {
  'service-policies': ['identities', 'services', 'posture-checks'],
  'edge-router-policies': ['identities', 'edge-routers'],
  'service-edge-router-policies': ['services', 'edge-routers'],
}

function sizesOf<K extends string>(
  maps: Readonly<Record<K, ReadonlyMap<string, unknown>>>,
): Readonly<Record<K, number>> {
  const sizes = Object.entries<ReadonlyMap<string, unknown>>(maps).map(([kind, { size }]) => [kind, size])
  return Object.fromEntries(sizes)
}

/** Questions that can be asked of both: everything but the sets that only mean something inside of an index. */
export type ComparableAccess = Omit<
  AccessIndex,
  'audienceOf' | 'entitiesNamed' | 'identitiesIn' | 'isIn' | 'reachOf' | 'roster' | 'selection' | 'servicesIn'
>

/** The oracle of the access index: plain maps, and the matching rule applied to every pair for every question. */
export class NaiveAccess implements ComparableAccess {
  readonly #entities: Record<EntityKind, Map<string, IndexedEntity>> = {
    identities: new Map(),
    services: new Map(),
    'edge-routers': new Map(),
    'posture-checks': new Map(),
  }
  readonly #policies: Record<PolicyKind, Map<string, IndexedPolicy>> = {
    'service-policies': new Map(),
    'edge-router-policies': new Map(),
    'service-edge-router-policies': new Map(),
  }

  putEntity(kind: EntityKind, entity: IndexedEntity): void {
    this.#entities[kind].set(entity.id, entity)
  }

  removeEntity(kind: EntityKind, id: string): void {
    this.#entities[kind].delete(id)
  }

  putPolicy(kind: PolicyKind, policy: IndexedPolicy): void {
    this.#policies[kind].set(policy.id, policy)
  }

  removePolicy(kind: PolicyKind, id: string): void {
    this.#policies[kind].delete(id)
  }

  counts(): ReturnType<AccessIndex['counts']> {
    return { ...sizesOf(this.#entities), ...sizesOf(this.#policies) }
  }

  has(kind: EntityKind | PolicyKind, id: string): boolean {
    return { ...this.#entities, ...this.#policies }[kind].has(id)
  }

  typeOf(id: string): AccessType | undefined {
    return this.#policies['service-policies'].get(id)?.type
  }

  rolesOf(kind: EntityKind, id: string): string[] {
    const held = this.#entities[kind].get(id)?.roleAttributes ?? []
    return [...new Set(held)].map((attribute) => `#${attribute}`)
  }

  roleAttributes(kind: EntityKind): string[] {
    const held = [...this.#entities[kind].values()].flatMap(({ roleAttributes }) => roleAttributes)
    return [...new Set(held)]
  }

  holdersOf(kind: EntityKind, attribute: string): string[] {
    return this.#entityIds(kind, (id) => this.#entities[kind].get(id)?.roleAttributes.includes(attribute) === true)
  }

  countHolders(kind: EntityKind, attribute: string): number {
    return this.holdersOf(kind, attribute).length
  }

  countSelected(policyKind: PolicyKind, policyId: string, entityKind: EntityKind): number {
    return this.selectedBy(policyKind, policyId, entityKind).length
  }

  selectedBy(policyKind: PolicyKind, policyId: string, entityKind: EntityKind): string[] {
    return this.#entityIds(entityKind, (id) => this.#matches(policyKind, policyId, entityKind, id))
  }

  policiesSelecting(policyKind: PolicyKind, entityKind: EntityKind, entityId: string): string[] {
    return this.#policyIds(policyKind, (id) => this.#matches(policyKind, id, entityKind, entityId))
  }

  servicesOf(identityId: string, type?: AccessType): string[] {
    return this.#entityIds('services', (id) => this.grantingPolicies(identityId, id, type).length > 0)
  }

  identitiesOf(serviceId: string, type?: AccessType): string[] {
    return this.#entityIds('identities', (id) => this.grantingPolicies(id, serviceId, type).length > 0)
  }

  allows(identityId: string, serviceId: string, type: AccessType): boolean {
    return this.grantingPolicies(identityId, serviceId, type).length > 0
  }

  grantingPolicies(identityId: string, serviceId: string, type?: AccessType): string[] {
    return this.#policyIds('service-policies', (id) => {
      const isOfType = type === undefined || this.#policies['service-policies'].get(id)?.type === type
      return isOfType && this.#links('service-policies', id, 'identities', identityId, 'services', serviceId)
    })
  }

  /** One for every policy that grants, with all checks that it selects. */
  separateGrantsOf(identityId: string, serviceIds: readonly string[]): Grant[][] {
    return serviceIds.map((id) =>
      this.grantingPolicies(identityId, id).flatMap((policyId) => {
        const type = this.typeOf(policyId)
        const checks = this.selectedBy('service-policies', policyId, 'posture-checks')
        return type === undefined ? [] : [{ policyId, type, checks }]
      }),
    )
  }

  /** The first of those that are alike but for their policy. */
  grantsOf(identityId: string, serviceIds: readonly string[]): Grant[][] {
    const isAlike = (one: Grant, other: Grant) => one.type === other.type && String(one.checks) === String(other.checks)
    return this.separateGrantsOf(identityId, serviceIds).map((grants) =>
      grants.filter((grant, position) => grants.findIndex((other) => isAlike(grant, other)) === position),
    )
  }

  hasAny(kind: EntityKind): boolean {
    return this.#entities[kind].size > 0
  }

  edgeRoutersOfIdentity(id: string): string[] {
    return this.#entityIds('edge-routers', (router) => this.#mayUse(id, router))
  }

  identitiesListOf(serviceId: string, type?: AccessType): string[] {
    return this.identitiesOf(serviceId, type)
  }

  selectedList(policyKind: PolicyKind, policyId: string, entityKind: EntityKind): string[] {
    return this.selectedBy(policyKind, policyId, entityKind)
  }

  identitiesOfEdgeRouter(id: string): string[] {
    return this.#entityIds('identities', (identity) => this.#mayUse(identity, id))
  }

  edgeRoutersOfService(id: string): string[] {
    return this.#entityIds('edge-routers', (router) => this.#mayCarry(id, router))
  }

  servicesOfEdgeRouter(id: string): string[] {
    return this.#entityIds('services', (service) => this.#mayCarry(service, id))
  }

  accessTypes(identityId: string, serviceId: string): AccessType[] {
    return (['Bind', 'Dial'] as const).filter((type) => this.allows(identityId, serviceId, type))
  }

  edgeRoutersBetween(identityId: string, serviceId: string): EdgeRoutersBetween {
    return {
      ofIdentity: this.edgeRoutersOfIdentity(identityId).length,
      ofService: this.edgeRoutersOfService(serviceId).length,
      common: this.commonEdgeRouters(identityId, serviceId),
    }
  }

  commonEdgeRouters(identityId: string, serviceId: string): string[] {
    return this.#entityIds('edge-routers', (id) => this.#mayUse(identityId, id) && this.#mayCarry(serviceId, id))
  }

  #mayUse(identityId: string, routerId: string): boolean {
    return [...this.#policies['edge-router-policies'].keys()].some((id) =>
      this.#links('edge-router-policies', id, 'identities', identityId, 'edge-routers', routerId),
    )
  }

  #mayCarry(serviceId: string, routerId: string): boolean {
    return [...this.#policies['service-edge-router-policies'].keys()].some((id) =>
      this.#links('service-edge-router-policies', id, 'services', serviceId, 'edge-routers', routerId),
    )
  }

  #links(kind: PolicyKind, id: string, a: EntityKind, aId: string, b: EntityKind, bId: string): boolean {
    return this.#matches(kind, id, a, aId) && this.#matches(kind, id, b, bId)
  }

  /** The matching rule, word for word: policy-posture.md 1.2. */
  #matches(policyKind: PolicyKind, policyId: string, entityKind: EntityKind, entityId: string): boolean {
    const policy = this.#policies[policyKind].get(policyId)
    const entity = this.#entities[entityKind].get(entityId)
    if (policy === undefined || entity === undefined || !sides[policyKind].includes(entityKind)) return false
    const roles = policy.roles[entityKind] ?? []
    if (roles.includes(`@${entity.id}`) || roles.includes('#all')) return true
    const wanted = roles.filter((role) => role.startsWith('#'))
    const held = entity.roleAttributes.map((attribute) => `#${attribute}`)
    if (wanted.length === 0) return false
    if (policy.semantic === 'AllOf') return wanted.every((role) => held.includes(role))
    return wanted.some((role) => held.includes(role))
  }

  #entityIds(kind: EntityKind, isWanted: (id: string) => boolean): string[] {
    return [...this.#entities[kind].keys()].filter(isWanted).sort()
  }

  #policyIds(kind: PolicyKind, isWanted: (id: string) => boolean): string[] {
    return [...this.#policies[kind].keys()].filter(isWanted).sort()
  }
}
