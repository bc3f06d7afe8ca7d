import { createPkiMaterial, type ImportedEntity, openOperator } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { holdSecondFactors } from 'portcullis/model'
import { describe, expect, it } from 'vitest'
import { authPolicy } from '../support/people.ts'

const NOW = Date.UTC(2026, 0, 1)

const policy = (id: string, name: string, secondary: object = {}): ImportedEntity => ({
  resource: 'auth-policies',
  entity: { id, ...authPolicy(name, { minPasswordLength: 9 }, { ...secondary }) },
})
const identity = (id: string, isMfaEnabled: boolean, authPolicyId = 'default'): ImportedEntity => ({
  resource: 'identities',
  entity: { id, name: id, typeId: 'Default', isAdmin: false, isMfaEnabled, authPolicyId },
})
const DEFAULT = policy('default', 'Default')

function held(entities: readonly ImportedEntity[]) {
  const all = holdSecondFactors(entities)
  const of = (resource: string) => all.filter((one) => one.resource === resource).map(({ entity }) => entity)
  return {
    policies: of('auth-policies'),
    policyOf: Object.fromEntries(of('identities').map(({ id, authPolicyId }) => [id, authPolicyId])),
  }
}

/** The policies as a store has them after they were taken over twice, and how many changed the second time. */
async function stored(entities: readonly ImportedEntity[]) {
  const pki = await createPkiMaterial({ now: NOW, hosts: ['controller.test'], trustDomain: 'held.example' })
  const operator = await openOperator({ storage: memoryStorage(), pki, clock: { now: () => NOW } })
  const all = holdSecondFactors(entities)
  await operator.importEntities(all)
  const again = await operator.importEntities(all)
  const changes = again.counts.reduce((sum, { created, updated }) => sum + created + updated, 0)
  return { policies: await operator.list('auth-policies'), identities: await operator.list('identities'), changes }
}

describe('identities that had a second factor', () => {
  it('get a twin of their own auth policy, one for all of a policy, which says the same besides', () => {
    const { policies, policyOf } = held([
      DEFAULT,
      policy('strict', 'Strict', { requireTotp: true }),
      policy('signed', 'Signed', { requireExtJwtSigner: 'signer' }),
      identity('anna', true),
      identity('ben', true),
      identity('carl', false),
      identity('dora', true, 'strict'),
      identity('emil', true, 'signed'),
    ])
    expect(policyOf).toEqual({
      anna: 'default.totp',
      ben: 'default.totp',
      carl: 'default',
      dora: 'strict',
      emil: 'signed.totp',
    })
    const added = policies.slice(3)
    expect(added.map(({ name }) => name)).toEqual(['Default with second factor', 'Signed with second factor'])
    expect(added.map(({ primary }) => primary)).toEqual([DEFAULT.entity.primary, DEFAULT.entity.primary])
    expect(added.map(({ secondary }) => secondary)).toEqual([
      { requireTotp: true, requireExtJwtSigner: null },
      { requireTotp: true, requireExtJwtSigner: 'signer' },
    ])
  })

  it('are held in a network that was taken over so before', async () => {
    const before = [DEFAULT, identity('anna', true)]
    const { policies, policyOf } = held(before)
    const twin = policies.find(({ id }) => id === policyOf.anna)
    // Its operator changed the twin, and another identity enrolled in MFA since.
    const edited = {
      ...twin,
      ...authPolicy('Default with second factor', { minPasswordLength: 20 }, { requireTotp: true }),
    }
    const now = [
      DEFAULT,
      { resource: 'auth-policies', entity: edited },
      identity('anna', true, 'default.totp'),
      identity('ben', true),
    ]
    const moved = await stored(now)
    expect(moved.changes).toBe(0)
    expect(moved.policies.map(({ name }) => name)).toEqual(['Default', 'Default with second factor'])
    expect(moved.policies[1]).toMatchObject({ primary: { updb: { minPasswordLength: 20 } } })
    expect(moved.identities.map(({ authPolicyId }) => authPolicyId)).toEqual(['default.totp', 'default.totp'])
  })

  it.each([
    ['the name', policy('other', 'Default with second factor')],
    ['the id', policy('default.totp', 'Other')],
  ])('are held where another auth policy, which asks for none, has %s of the twin', async (_what, other) => {
    const moved = await stored([
      DEFAULT,
      other,
      identity('anna', true),
      identity('carl', false, String(other.entity.id)),
    ])
    expect(moved.changes).toBe(0)
    expect(moved.policies.map(({ id }) => id).sort()).toEqual(
      ['default', 'default.totp2', String(other.entity.id)].sort(),
    )
    const asks = (name: string) => {
      const { authPolicyId } = moved.identities.find((one) => one.name === name) ?? {}
      return moved.policies.find(({ id }) => id === authPolicyId)?.secondary
    }
    expect(asks('anna')).toMatchObject({ requireTotp: true })
    expect(asks('carl')).toMatchObject({ requireTotp: false })
  })
})
