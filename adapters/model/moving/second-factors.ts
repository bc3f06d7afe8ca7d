import type { ImportedEntity } from '../../../src/index.ts'

type Shown = ImportedEntity['entity']

/**
 * The identities that have a second factor where they are read; nobody can take its secret over.
 *
 * @example
 * const { entities } = await readSource(admin)
 * identitiesWithSecondFactor(entities).length
 */
export function identitiesWithSecondFactor(entities: readonly ImportedEntity[]): readonly Shown[] {
  return entities
    .filter(({ resource, entity }) => resource === 'identities' && entity.isMfaEnabled === true)
    .map(({ entity }) => entity)
}

/**
 * The same entities, with every identity that had a second factor held until it enrolls one again: it gets the twin of its
 * auth policy that requires an authenticator app, so that a login without one may enroll it and nothing else. What the policy
 * says besides stays.
 *
 * @example
 * const { entities } = await readSource(admin)
 * await operator.importEntities(holdSecondFactors(entities))
 */
export function holdSecondFactors(entities: readonly ImportedEntity[]): readonly ImportedEntity[] {
  const held = new Set(identitiesWithSecondFactor(entities))
  const policies = new Map(
    entities.filter(({ resource }) => resource === 'auth-policies').map(({ entity }) => [String(entity.id), entity]),
  )
  const twins = new Map<string, ImportedEntity>()
  const moved = entities.map((one) => {
    if (!held.has(one.entity)) return one
    const policy = policies.get(String(one.entity.authPolicyId ?? 'default'))
    if (policy === undefined || requiresTotp(policy)) return one
    const twin = twinOf(policy)
    twins.set(String(twin.id), { resource: 'auth-policies', entity: twin })
    return { ...one, entity: { ...one.entity, authPolicyId: twin.id } }
  })
  return [...moved, ...twins.values()]
}

function requiresTotp({ secondary }: Shown): boolean {
  return Reflect.get(Object(secondary), 'requireTotp') === true
}

/** The same at every import, so that one that is done again makes no other. */
function twinOf(policy: Shown): Shown {
  const secondary = { ...Object(policy.secondary), requireTotp: true }
  const name = `${policy.name} with second factor`
  // Only what the controller made itself is marked so.
  return { ...policy, id: `${policy.id}.totp`, name, isSystem: undefined, secondary }
}
