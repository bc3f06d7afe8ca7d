import fc from 'fast-check'
import { SYSTEM_CALL } from 'portcullis'
import { ApiError } from 'portcullis/client'
import { describe, expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { type PolicyRoles, world } from '../support/world.ts'

const subset = (values: readonly string[]) => fc.subarray([...values])
const semantic = fc.constantFrom('AllOf' as const, 'AnyOf' as const)
const roles = fc.oneof(fc.constant(['#all']), subset(['#a', '#b']))
const policy: fc.Arbitrary<PolicyRoles> = fc.record({
  type: fc.constantFrom('Dial' as const, 'Bind' as const),
  semantic,
  identityRoles: roles,
  serviceRoles: roles,
  postureCheckRoles: subset(['#corp', '#home', '#mfa']),
})
const routerPolicy = fc.record({ semantic, edgeRouterRoles: roles, roles })
const model = fc.record({
  attributes: subset(['a', 'b']),
  serviceAttributes: subset(['a', 'b']),
  routerAttributes: subset(['a', 'b']),
  policies: fc.array(policy, { maxLength: 4 }),
  identityRouterPolicies: fc.array(routerPolicy, { maxLength: 2 }),
  serviceRouterPolicies: fc.array(routerPolicy, { maxLength: 2 }),
  domain: fc.constantFrom('corp', 'home', 'elsewhere'),
  passesMfa: fc.boolean(),
  elapsedSeconds: fc.constantFrom(0, 30, 90),
  type: fc.constantFrom('Dial' as const, 'Bind' as const),
})
type Model = typeof model extends fc.Arbitrary<infer M> ? M : never

const EVERYBODY: PolicyRoles = { type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] }
const EVERY_ROUTER = { semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'], roles: ['#all'] }
/** A session is given, and its only edge router is offline. */
const CARRIED: Model = {
  attributes: [],
  serviceAttributes: [],
  routerAttributes: [],
  policies: [EVERYBODY],
  identityRouterPolicies: [EVERY_ROUTER],
  serviceRouterPolicies: [EVERY_ROUTER],
  domain: 'elsewhere',
  passesMfa: false,
  elapsedSeconds: 0,
  type: 'Dial',
}
/** One model for each reason: chance alone misses one of them now and then. */
const EXAMPLES: readonly Model[] = [
  CARRIED,
  { ...CARRIED, policies: [] },
  { ...CARRIED, type: 'Bind' },
  { ...CARRIED, policies: [{ ...EVERYBODY, postureCheckRoles: ['#corp'] }] },
  { ...CARRIED, identityRouterPolicies: [] },
  { ...CARRIED, serviceRouterPolicies: [] },
]

describe('an explanation', () => {
  it('allows exactly what POST /sessions gives, whatever the policies, routers and posture', {
    timeout: patience(60_000),
  }, async () => {
    const { controller, admin, ...words } = await world()
    const alice = await words.person('alice')
    const web = await words.service('web')
    await words.domainCheck('corp domain', ['corp'], 'corp')
    await words.domainCheck('home domain', ['home'], 'home')
    await words.mfaCheck('mfa', ['mfa'], { timeoutSeconds: 60 })
    const routers = await admin.call('GET /edge-routers')
    const routerId = routers.data[0]?.id ?? ''
    const seen = new Set<string>()

    const clear = async () => {
      for (const { id } of (await admin.call('GET /service-policies')).data) {
        await admin.call('DELETE /service-policies/{id}', { params: { id } })
      }
      for (const { id } of (await admin.call('GET /edge-router-policies')).data) {
        await admin.call('DELETE /edge-router-policies/{id}', { params: { id } })
      }
      for (const { id } of (await admin.call('GET /service-edge-router-policies')).data) {
        await admin.call('DELETE /service-edge-router-policies/{id}', { params: { id } })
      }
    }

    await fc.assert(
      fc.asyncProperty(model, async (random) => {
        await clear()
        const { attributes, serviceAttributes, routerAttributes, type } = random
        await admin.call('PATCH /identities/{id}', { params: { id: alice.id }, body: { roleAttributes: attributes } })
        await admin.call('PATCH /services/{id}', { params: { id: web }, body: { roleAttributes: serviceAttributes } })
        const routerBody = { roleAttributes: routerAttributes }
        await admin.call('PATCH /edge-routers/{id}', { params: { id: routerId }, body: routerBody })
        for (const [number, one] of random.policies.entries()) await words.policy(`policy ${number}`, one)
        for (const [number, one] of random.identityRouterPolicies.entries()) {
          const body = { name: `${number}`, semantic: one.semantic, edgeRouterRoles: one.edgeRouterRoles }
          await admin.call('POST /edge-router-policies', { body: { ...body, identityRoles: one.roles } })
        }
        for (const [number, one] of random.serviceRouterPolicies.entries()) {
          const body = { name: `${number}`, semantic: one.semantic, edgeRouterRoles: one.edgeRouterRoles }
          await admin.call('POST /service-edge-router-policies', { body: { ...body, serviceRoles: one.roles } })
        }
        const response = { id: 'any', typeId: 'DOMAIN' as const, domain: random.domain }
        await alice.api.call('POST /posture-response', { body: response })
        if (random.passesMfa) await words.passMfa(alice)
        await controller.elapse(random.elapsedSeconds * 1000)

        const explanation = await controller.engine.access.explain(SYSTEM_CALL, 'alice', 'web', type)
        const answer = await alice.api.call('POST /sessions', { body: { serviceId: web, type } }).catch(codeOf)
        seen.add(explanation.reason)
        expect({ ...explanation, given: answer }).toMatchObject(
          typeof answer === 'string' ? { allowed: false } : { allowed: true },
        )
        expect(REFUSALS[explanation.reason] ?? []).toContain(typeof answer === 'string' ? answer : 'session')
      }),
      { ...runs(200), examples: EXAMPLES.map((one): [Model] => [one]) },
    )
    // The models are worth something only when they reach every reason.
    expect([...seen].sort()).toEqual(Object.keys(REFUSALS).sort())
  })
})

/** The answer of POST /sessions for each reason that an enabled identity can meet. */
const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  'no-policy-for-pair': ['NOT_FOUND'],
  'only-other-type': ['COULD_NOT_VALIDATE'],
  'posture-failing': ['INVALID_POSTURE'],
  'no-edge-router-for-identity': ['NO_EDGE_ROUTERS_AVAILABLE'],
  'no-edge-router-for-service': ['NO_EDGE_ROUTERS_AVAILABLE'],
  'all-common-edge-routers-offline': ['session'],
}

function codeOf(error: unknown): string {
  return error instanceof ApiError ? error.code : String(error)
}
