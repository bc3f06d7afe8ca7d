import fc from 'fast-check'
import { SYSTEM_CALL } from 'portcullis'
import { ApiError } from 'portcullis/client'
import { openControlListener, routerSide } from 'portcullis/fabric'
import { bodyOf, enrollEdgeRouter, FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { PlayedFeeds } from '../fabric/control/played-feeds.ts'
import { adminToken } from '../support/delegate.ts'
import { NaiveAccess } from '../support/naive-access.ts'
import { patience, runs } from '../support/property-runs.ts'
import { type PolicyRoles, world } from '../support/world.ts'

const { CONTENT_TYPE, HEADER, textBytes } = routerSide
const TYPES = ['Bind', 'Dial'] as const
type AccessType = (typeof TYPES)[number]

/** Seconds for which a second factor is good. */
const MFA_SECONDS = 60
/** Milliseconds within which circuits are cut that nothing carries any more. */
const SOON_MS = 2000
const EVERYTHING = { semantic: 'AnyOf' as const, identityRoles: ['#all'], serviceRoles: ['#all'] }

const subset = (values: readonly string[]) => fc.subarray([...values])
const semantic = fc.constantFrom('AllOf' as const, 'AnyOf' as const)
// Most networks grant something, or there is nothing to lose.
const roles = fc.oneof(fc.constant(['#all']), subset(['#a', '#b']))
const attributes = subset(['a', 'b'])
const policy: fc.Arbitrary<PolicyRoles> = fc.record({
  type: fc.constantFrom(...TYPES),
  semantic,
  identityRoles: roles,
  serviceRoles: roles,
  postureCheckRoles: fc.oneof(fc.constant([]), subset(['#corp', '#home', '#mfa'])),
})
const routerPolicy = fc.record({ semantic, edgeRouterRoles: roles, roles })
const person = fc.record({
  attributes,
  domain: fc.constantFrom('corp', 'home', 'elsewhere'),
  passesMfa: fc.boolean(),
})
const network = fc.record({
  people: fc.tuple(person, person),
  services: fc.tuple(attributes, attributes),
  routers: fc.tuple(attributes, attributes),
  policies: fc.array(policy, { minLength: 1, maxLength: 4 }),
  identityRouterPolicies: fc.array(routerPolicy, { minLength: 1, maxLength: 2 }),
  serviceRouterPolicies: fc.array(routerPolicy, { minLength: 1, maxLength: 2 }),
  elapsedSeconds: fc.constantFrom(0, 30, 90),
})
type Network = typeof network extends fc.Arbitrary<infer T> ? T : never

const nobodyProved = { attributes: ['a'], domain: 'corp' as const, passesMfa: false }
const everywhere = { semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'], roles: ['#all'] }
/** Dial of web is granted, Bind of it asks for a second factor that nobody proved, and mail is nobody's. */
const plain: Network = {
  people: [nobodyProved, nobodyProved],
  services: [['a'], []],
  routers: [['a'], ['b']],
  policies: [
    { ...EVERYTHING, type: 'Dial', serviceRoles: ['#a'], postureCheckRoles: ['#corp'] },
    { ...EVERYTHING, type: 'Bind', serviceRoles: ['#a'], postureCheckRoles: ['#mfa'] },
  ],
  identityRouterPolicies: [everywhere],
  serviceRouterPolicies: [everywhere],
  elapsedSeconds: 0,
}
/** Networks that together meet every reason. */
const EXAMPLES: readonly Network[] = [
  plain,
  { ...plain, policies: plain.policies.slice(0, 1) },
  { ...plain, identityRouterPolicies: [{ ...everywhere, edgeRouterRoles: [] }] },
  { ...plain, serviceRouterPolicies: [{ ...everywhere, edgeRouterRoles: [] }] },
  {
    ...plain,
    identityRouterPolicies: [{ ...everywhere, edgeRouterRoles: ['#a'] }],
    serviceRouterPolicies: [{ ...everywhere, edgeRouterRoles: ['#b'] }],
  },
]

interface Someone {
  readonly id: string
  readonly apiSessionId: string
  readonly token: string
  readonly api: Awaited<ReturnType<Awaited<ReturnType<typeof world>>['person']>>['api']
}

/** Two people, two services with an address each, two edge routers that are linked, and who plays the routers. */
async function stage() {
  const words = await world()
  const { controller, admin } = words
  const listener = await openControlListener(controller, { addresses: ['tls:controller.test:6262'] })
  const someone = async (name: string): Promise<Someone> => {
    const { id } = await words.person(name)
    // Explanations and simulations look at the newest API session.
    await controller.elapse(1000)
    const body = { username: `user ${name}`, password: 'Correct-Horse-1' }
    const anonymous = controller.client()
    const { data } = await anonymous.call('POST /authenticate', { query: { method: 'password' }, body })
    return { id, apiSessionId: data.id, token: data.token, api: anonymous.withToken(data.token) }
  }
  const people = [await someone('alice'), await someone('bob')]
  const services: string[] = []
  for (const name of ['web', 'mail']) {
    services.push((await admin.call('POST /services', { body: { name, encryptionRequired: false } })).data.id)
  }
  await words.domainCheck('corp', ['corp'], 'corp')
  await words.domainCheck('home', ['home'], 'home')
  await words.mfaCheck('mfa', ['mfa'], { timeoutSeconds: MFA_SECONDS })
  for (const { id } of (await admin.call('GET /edge-routers')).data) {
    await admin.call('DELETE /edge-routers/{id}', { params: { id } })
  }
  const token = await adminToken(controller)
  const feeds = new PlayedFeeds()
  const routers: FakeRouter[] = []
  for (const name of ['r1', 'r2']) {
    // A router of the line 1.6 judges no posture, and leaves it to the controller.
    const onFrame = (frame: routerSide.Frame) => {
      feeds.take(frame)
      return true
    }
    const options = { capabilities: [], ...(name === 'r1' && { onFrame }) }
    const router = new FakeRouter(await enrollEdgeRouter(controller, token, { name }), listener, options)
    expect((await router.connect()).accepted).toBe(true)
    routers.push(router)
  }
  const [first, second] = routers
  if (first === undefined || second === undefined) throw new Error('there are two routers')
  for (const service of services) {
    const body = { service, router: first.id, address: 'tcp:127.0.0.1:80', binding: 'transport' }
    await admin.call('POST /terminators', { body })
  }
  const link = { id: 'l1', destRouterId: first.id, linkProtocol: 'tls', dialAddress: 'tls:r1:1', iteration: 1 }
  const links = [{ ...link, connState: undefined }]
  second.send(CONTENT_TYPE.routerLinks, routerSide.RouterLinks.encode({ links, fullRefresh: true }))
  feeds.subscriptionId = 's1'
  const subscription = { currentIndex: 0, timelineId: '', subscriptionId: 's1', renew: false }
  const body = routerSide.Subscribe.encode({ ...subscription, subscriptionDurationSeconds: 300 })
  first.send(CONTENT_TYPE.subscribeToModel, body)
  return { ...words, people, services, routers, feeds }
}
type Stage = Awaited<ReturnType<typeof stage>>

/** The network of a run for the oracle, and which checks pass for whom, worked out anew. */
async function oracleOf({ admin, people, services, routers }: Stage, random: Network) {
  const naive = new NaiveAccess()
  for (const [at, { id }] of people.entries()) {
    naive.putEntity('identities', { id, roleAttributes: random.people[at]?.attributes ?? [] })
  }
  for (const [at, id] of services.entries()) {
    naive.putEntity('services', { id, roleAttributes: random.services[at] ?? [] })
  }
  for (const [at, { id }] of routers.entries()) {
    naive.putEntity('edge-routers', { id, roleAttributes: random.routers[at] ?? [] })
  }
  const nameOf = new Map<string, string>()
  for (const { id, name, roleAttributes } of (await admin.call('GET /posture-checks')).data) {
    naive.putEntity('posture-checks', { id, roleAttributes: roleAttributes ?? [] })
    nameOf.set(id, name)
  }
  for (const { id, type, semantic, ...lists } of (await admin.call('GET /service-policies')).data) {
    if (type === 'Invalid') continue
    const { identityRoles, serviceRoles, postureCheckRoles } = lists
    const sides = {
      identities: identityRoles ?? [],
      services: serviceRoles ?? [],
      'posture-checks': postureCheckRoles ?? [],
    }
    naive.putPolicy('service-policies', { id, type, semantic, roles: sides })
  }
  for (const [at, one] of random.identityRouterPolicies.entries()) {
    const sides = { identities: one.roles, 'edge-routers': one.edgeRouterRoles }
    naive.putPolicy('edge-router-policies', { id: `${at}`, semantic: one.semantic, roles: sides })
  }
  for (const [at, one] of random.serviceRouterPolicies.entries()) {
    const sides = { services: one.roles, 'edge-routers': one.edgeRouterRoles }
    naive.putPolicy('service-edge-router-policies', { id: `${at}`, semantic: one.semantic, roles: sides })
  }
  const passes = (who: number, checkId: string) => {
    const { domain, passesMfa } = random.people[who] ?? { domain: '', passesMfa: false }
    return nameOf.get(checkId) === 'mfa'
      ? passesMfa && random.elapsedSeconds < MFA_SECONDS
      : nameOf.get(checkId) === domain
  }
  /** The service policies that carry an access now. */
  const carrying = (who: number, serviceId: string, type: AccessType) =>
    naive
      .grantingPolicies(people[who]?.id ?? '', serviceId, type)
      .filter((id) => naive.selectedBy('service-policies', id, 'posture-checks').every((check) => passes(who, check)))
  return { naive, carrying }
}
type Oracle = Awaited<ReturnType<typeof oracleOf>>

/** The first obstacle, by the order in which explanations look for it. */
function reasonOf({ naive, carrying }: Oracle, who: number, identityId: string, serviceId: string, type: AccessType) {
  if (naive.grantingPolicies(identityId, serviceId).length === 0) return 'no-policy-for-pair'
  if (!naive.allows(identityId, serviceId, type)) return 'only-other-type'
  if (carrying(who, serviceId, type).length === 0) return 'posture-failing'
  const { ofIdentity, ofService, common } = naive.edgeRoutersBetween(identityId, serviceId)
  if (ofIdentity === 0) return 'no-edge-router-for-identity'
  if (ofService === 0) return 'no-edge-router-for-service'
  return common.length === 0 ? 'no-common-edge-router' : 'granted'
}

/** The answer of POST /sessions for each reason. */
const ANSWERS: Readonly<Record<string, string>> = {
  'no-policy-for-pair': 'NOT_FOUND',
  'only-other-type': 'COULD_NOT_VALIDATE',
  'posture-failing': 'INVALID_POSTURE',
  'no-edge-router-for-identity': 'NO_EDGE_ROUTERS_AVAILABLE',
  'no-edge-router-for-service': 'NO_EDGE_ROUTERS_AVAILABLE',
  'no-common-edge-router': 'NO_EDGE_ROUTERS_AVAILABLE',
  granted: 'session',
}

/** The answer to a client that dials at a router: whether the router may be used comes before posture. */
function dialAnswer({ naive, carrying }: Oracle, who: number, identityId: string, serviceId: string, routerId: string) {
  if (!naive.allows(identityId, serviceId, 'Dial')) return 'no policy lets the identity dial the service'
  const common = naive.commonEdgeRouters(identityId, serviceId)
  if (common.length === 0) return 'no edge router may be used by the identity for the service'
  if (!common.includes(routerId)) return 'invalid edge router for session'
  if (carrying(who, serviceId, 'Dial').length === 0) return 'no policy whose posture checks pass lets the identity in'
  return 'circuit'
}

async function dialAt(router: FakeRouter, { id, token }: Someone, serviceId: string) {
  const texts = [
    [HEADER.circuitApiSessionToken, token],
    [HEADER.circuitIdentityId, id],
    [HEADER.circuitServiceId, serviceId],
  ] as const
  const headers = new Map(texts.map(([key, text]) => [key, textBytes(text)]))
  const answer = await router.request(CONTENT_TYPE.createCircuitV3, undefined, headers)
  if (answer.contentType === CONTENT_TYPE.error) return { said: new TextDecoder().decode(bodyOf(answer)) }
  return { said: 'circuit', id: routerSide.readText(answer.headers, HEADER.createdCircuitId) ?? '' }
}

/** Deletes every policy of a kind but those that are to stay. */
async function clearPolicies({ admin }: Stage, kept: readonly string[] = []): Promise<void> {
  for (const { id } of (await admin.call('GET /service-policies')).data) {
    if (!kept.includes(id)) await admin.call('DELETE /service-policies/{id}', { params: { id } })
  }
  for (const { id } of (await admin.call('GET /edge-router-policies')).data) {
    if (!kept.includes(id)) await admin.call('DELETE /edge-router-policies/{id}', { params: { id } })
  }
  for (const { id } of (await admin.call('GET /service-edge-router-policies')).data) {
    if (!kept.includes(id)) await admin.call('DELETE /service-edge-router-policies/{id}', { params: { id } })
  }
}

/** Lets everybody do everything; then each has a session for each service and type, and a circuit from each router. */
async function opened(there: Stage) {
  const { admin, people, services, routers, policy } = there
  await clearPolicies(there)
  for (const { id } of (await admin.call('GET /sessions')).data) {
    await admin.call('DELETE /sessions/{id}', { params: { id } })
  }
  for (const type of TYPES) await policy(`open ${type}`, { ...EVERYTHING, type })
  const all = { name: 'open', semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'] }
  await admin.call('POST /edge-router-policies', { body: { ...all, identityRoles: ['#all'] } })
  await admin.call('POST /service-edge-router-policies', { body: { ...all, serviceRoles: ['#all'] } })
  const sessions: { who: number; serviceId: string; type: AccessType; id: string; token: string }[] = []
  const circuits: { who: number; serviceId: string; routerId: string; id: string }[] = []
  for (const [who, someone] of people.entries()) {
    for (const serviceId of services) {
      for (const type of TYPES) {
        const { id, token } = (await someone.api.call('POST /sessions', { body: { serviceId, type } })).data
        sessions.push({ who, serviceId, type, id, token })
      }
      for (const router of routers) {
        const { said, id = '' } = await dialAt(router, someone, serviceId)
        expect(said).toBe('circuit')
        circuits.push({ who, serviceId, routerId: router.id, id })
      }
    }
  }
  return { sessions, circuits }
}

/**
 * Makes the network that of the run, the endpoints as they are in it, and lets its time pass. Until everything is as it is to
 * be everybody may do everything, so that nothing is lost on the way.
 */
async function changed(there: Stage, random: Network): Promise<void> {
  const { admin, people, services, routers } = there
  const kept: string[] = []
  for (const [number, one] of random.policies.entries()) kept.push(await there.policy(`policy ${number}`, one))
  for (const [number, { semantic, edgeRouterRoles, roles }] of random.identityRouterPolicies.entries()) {
    const body = { name: `${number}`, semantic, edgeRouterRoles, identityRoles: roles }
    kept.push((await admin.call('POST /edge-router-policies', { body })).data.id)
  }
  for (const [number, { semantic, edgeRouterRoles, roles }] of random.serviceRouterPolicies.entries()) {
    const body = { name: `${number}`, semantic, edgeRouterRoles, serviceRoles: roles }
    kept.push((await admin.call('POST /service-edge-router-policies', { body })).data.id)
  }
  for (const [who, { id, api, apiSessionId }] of people.entries()) {
    const { attributes: roleAttributes = [], domain = '', passesMfa = false } = random.people[who] ?? {}
    await admin.call('PATCH /identities/{id}', { params: { id }, body: { roleAttributes } })
    await api.call('POST /posture-response', { body: { id: 'any', typeId: 'DOMAIN' as const, domain } })
    if (passesMfa) await there.passMfa({ id, apiSessionId, api })
  }
  for (const [at, id] of services.entries()) {
    await admin.call('PATCH /services/{id}', { params: { id }, body: { roleAttributes: random.services[at] ?? [] } })
  }
  for (const [at, { id }] of routers.entries()) {
    await admin.call('PATCH /edge-routers/{id}', { params: { id }, body: { roleAttributes: random.routers[at] ?? [] } })
  }
  await clearPolicies(there, kept)
  await there.controller.elapse(random.elapsedSeconds * 1000 + SOON_MS)
}

const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : String(error))

it('whoever is asked whether somebody may dial or bind answers as the oracle does, after whatever changes', {
  timeout: patience(240_000),
}, async () => {
  const there = await stage()
  const { admin, controller, people, services, routers, feeds } = there
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(network, async (random) => {
      // A second factor that was proved in the run before is good no more.
      await controller.elapse(MFA_SECONDS * 1000)
      const before = await opened(there)
      await changed(there, random)
      const oracle = await oracleOf(there, random)
      const { naive, carrying } = oracle
      const everyPair = people.flatMap((someone, who) => services.map((serviceId) => ({ ...someone, who, serviceId })))
      const every = everyPair.flatMap((pair) => TYPES.map((type) => ({ ...pair, type })))

      // Sessions that were there go on as long as a policy carries them.
      const left = (await admin.call('GET /sessions')).data.map(({ id }) => id)
      const going = before.sessions.filter(({ who, serviceId, type }) => carrying(who, serviceId, type).length > 0)
      expect(left.sort()).toEqual(going.map(({ id }) => id).sort())

      // So do circuits, as long as their router may be used.
      const carried = before.circuits.filter(({ who, serviceId, routerId }) => {
        return dialAnswer(oracle, who, people[who]?.id ?? '', serviceId, routerId) === 'circuit'
      })
      await vi.waitFor(async () => {
        const open = await controller.fetch(
          new Request('https://controller.test/fabric/v1/circuits?limit=500', {
            headers: { 'zt-session': await adminOf(there) },
          }),
        )
        const { data }: { readonly data: readonly { readonly id: string }[] } = JSON.parse(await open.text())
        expect(data.map(({ id }) => id).sort()).toEqual(carried.map(({ id }) => id).sort())
      })

      // Hosts register by the sessions that go on, at routers that may be used.
      for (const { who, serviceId, type, id, token: sessionToken } of before.sessions) {
        if (type !== 'Bind') continue
        for (const router of routers) {
          const { token: apiSessionToken = '', id: identityId = '' } = people[who] ?? {}
          const request = routerSide.CreateTerminator.encode({
            address: `${id}-${router.id}`,
            sessionToken,
            apiSessionToken,
          })
          const { result } = routerSide.TerminatorCreated.decode(
            bodyOf(await router.request(CONTENT_TYPE.createTerminatorV2, request)),
          )
          const may = left.includes(id) && naive.commonEdgeRouters(identityId, serviceId).includes(router.id)
          expect({ who, serviceId, router: router.id, may: result === 'success' }).toEqual({
            who,
            serviceId,
            router: router.id,
            may,
          })
        }
      }

      for (const pair of everyPair) {
        // Who dials anew is told the first obstacle.
        for (const router of routers) {
          const { said } = await dialAt(router, pair, pair.serviceId)
          expect(said).toBe(dialAnswer(oracle, pair.who, pair.id, pair.serviceId, router.id))
        }
        // Advice looks at policies and edge routers.
        const params = { id: pair.id, serviceId: pair.serviceId }
        const { data: advice } = await admin.call('GET /identities/{id}/policy-advice/{serviceId}', { params })
        const { ofIdentity, ofService, common } = naive.edgeRoutersBetween(pair.id, pair.serviceId)
        expect(advice).toMatchObject({
          isDialAllowed: naive.allows(pair.id, pair.serviceId, 'Dial'),
          isBindAllowed: naive.allows(pair.id, pair.serviceId, 'Bind'),
          identityRouterCount: ofIdentity,
          serviceRouterCount: ofService,
          commonRouters: common.map((id) => ({ id, isOnline: true })),
        })
      }

      // Explanations name the reason by which a session is given or refused.
      for (const { who, id, serviceId, type, api } of every) {
        const reason = reasonOf(oracle, who, id, serviceId, type)
        seen.add(reason)
        const explained = await controller.engine.access.explain(SYSTEM_CALL, id, serviceId, type)
        expect(explained.reason).toBe(reason)
        expect(
          explained.policies
            .filter(({ grants }) => grants)
            .map((one) => one.id)
            .sort(),
        ).toEqual(carrying(who, serviceId, type))
        const answer = await api.call('POST /sessions', { body: { serviceId, type } }).then(() => 'session', codeOf)
        expect(answer).toBe(ANSWERS[reason])
      }

      // A simulation that takes every policy away loses what there is.
      const policies = (await admin.call('GET /service-policies')).data.map(({ id }) => id)
      const changes = policies.map((id) => ({ kind: 'service-policies' as const, action: 'delete' as const, id }))
      const marksOf = (pairs: readonly { identity: { id: string }; service: { id: string }; type: string }[]) =>
        pairs.map(({ identity, service, type }) => `${identity.id} ${service.id} ${type}`).sort()
      const marked = (allowed: typeof every) =>
        allowed.map(({ id, serviceId, type }) => `${id} ${serviceId} ${type}`).sort()
      const judged = await controller.engine.access.simulate(
        SYSTEM_CALL,
        changes,
        {},
        { identities: people.map(({ id }) => id) },
      )
      expect(marksOf(judged.pairs)).toEqual(
        marked(every.filter((one) => carrying(one.who, one.serviceId, one.type).length > 0)),
      )
      const aside = await controller.engine.access.simulate(SYSTEM_CALL, changes, { limit: 500 })
      const ofPeople = aside.pairs.filter(({ identity }) => people.some(({ id }) => id === identity.id))
      expect(marksOf(ofPeople)).toEqual(
        marked(every.filter(({ id, serviceId, type }) => naive.allows(id, serviceId, type))),
      )

      // Lists of services show what policies permit, and which grants pass.
      for (const [who, { id, api }] of people.entries()) {
        const { data: listed } = await api.call('GET /services')
        expect(listed.map((service) => service.id).sort()).toEqual(naive.servicesOf(id))
        for (const { id: serviceId, permissions, postureQueries } of listed) {
          expect([...permissions].sort()).toEqual(naive.accessTypes(id, serviceId))
          for (const type of TYPES) {
            const isPassing = postureQueries.some((query) => query.policyType === type && query.isPassing)
            expect({ serviceId, type, isPassing }).toEqual({
              serviceId,
              type,
              isPassing: carrying(who, serviceId, type).length > 0,
            })
          }
        }
      }

      // The model that routers decide by grants the same, with the same posture checks.
      await vi.waitFor(() => {
        for (const { id, serviceId, type } of every) {
          expect(grantedBy(feeds, id, serviceId, type)).toEqual(
            naive.grantingPolicies(id, serviceId, type).map((policyId) => ({
              policyId,
              checks: naive.selectedBy('service-policies', policyId, 'posture-checks'),
            })),
          )
        }
      })
    }),
    { ...runs(40, 15), examples: EXAMPLES.map((one): [Network] => [one]) },
  )
  // The networks are worth something only when they reach every reason.
  expect([...seen].sort()).toEqual(Object.keys(ANSWERS).sort())
})

/** The policies that grant an access by the model that a router has, as a router decides it. */
function grantedBy({ entities, relations }: PlayedFeeds, identityId: string, serviceId: string, type: AccessType) {
  const related = (policyId: string, side: string) => relations.get(`${policyId} ${side}`) ?? new Set<string>()
  return [...entities]
    .filter(([key]) => key.startsWith('servicePolicy '))
    .map(([, text]): { readonly id: string; readonly policyType: string } => JSON.parse(text))
    .filter(({ policyType }) => policyType.toLowerCase().includes(type.toLowerCase()))
    .map(({ id }) => id)
    .filter((id) => related(id, 'identities').has(identityId) && related(id, 'services').has(serviceId))
    .sort()
    .map((policyId) => ({ policyId, checks: [...related(policyId, 'posture-checks')].sort() }))
}

const ADMINS = new WeakMap<Stage, string>()

/** The token of the admin, which is used often enough to last. */
async function adminOf(there: Stage): Promise<string> {
  const token = ADMINS.get(there) ?? (await adminToken(there.controller))
  ADMINS.set(there, token)
  return token
}
