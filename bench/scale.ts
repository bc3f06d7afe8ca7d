import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createTestController, type TestController } from 'portcullis/testing'
import { SYSTEM_CALL } from '../src/engine/call.ts'
import { edgeRouters } from '../src/resources/edge-routers.ts'
import { identities } from '../src/resources/identities.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../src/resources/policies.ts'
import { postureChecks } from '../src/resources/posture-checks.ts'
import type { RecordOf, Resource } from '../src/resources/resource.ts'
import { services } from '../src/resources/services.ts'
import { givePassword } from '../test/support/identity-state.ts'
import type { BenchRow } from './row.ts'

/** The attributes of the large scenario: each is spread over one in so many entities. */
const SPREAD = [2, 2, 3, 4, 5, 8, 10, 10]

interface Size {
  readonly identities: number
  readonly services: number
  readonly routers: number
  /** Service, edge router and service edge router policies. */
  readonly policies: readonly [number, number, number]
}

const MEDIUM: Size = { identities: 5_000, services: 2_000, routers: 500, policies: [250, 250, 100] }
const LARGE: Size = { identities: 100_000, services: 2_000, routers: 500, policies: [250, 250, 100] }

/** The questions of administrators and devices at 100,000 identities, each until its effect is visible. */
export async function benchScale(): Promise<BenchRow[]> {
  const medium = await network(MEDIUM)
  const few = await serviceList(medium)
  await medium.controller.close()
  const large = await network(LARGE)
  const many = await serviceList(large)
  const idle = await timed(20, async () => {})
  const rows: BenchRow[] = [
    { name: 'nothing: longest hold of the event loop', value: idle.longestHoldMs, unit: 'ms' },
    { name: 'build the model, 100,000 identities', value: large.buildMs, unit: 'ms', target: '<5000 ms (W9)' },
    { name: 'memory of the model with its index', value: large.megabytes, unit: 'MB', target: '<400 MB (W19)' },
    { name: 'list 100 services as an identity, of 5,000', value: few.value, unit: 'ms' },
    {
      name: 'list 100 services as an identity, of 100,000',
      value: many.value,
      unit: 'ms',
      ceiling: { name: 'the same at 5,000 identities', value: few.value },
      target: '<1 ms (W4)',
    },
    {
      name: 'list 100 services: longest hold of the event loop',
      value: many.longestHoldMs,
      unit: 'ms',
      target: '<10 ms',
    },
    ...(await accessQuestions(large)),
    ...(await changes(large)),
    ...(await posture()),
  ]
  await large.controller.close()
  return rows
}

interface Network {
  readonly controller: TestController
  readonly size: Size
  readonly buildMs: number
  readonly megabytes: number
  readonly token: string
}

/** A controller that holds a network of the size, its index filled, and an identity in an API session. */
async function network(size: Size): Promise<Network> {
  const controller = await createTestController()
  const { engine } = controller
  const { storage, access } = engine.context
  const random = seeded(1)
  const empty = memoryMegabytes()
  const from = performance.now()
  await storage.write(async (tx) => {
    const insert = async <R extends Resource>(resource: R, record: object) => {
      const base = { createdAt: 0, updatedAt: 0, tags: {} }
      // The defaults of the declaration fill in whatever the benchmark does not look at.
      await tx.collection(resource).insert({ ...resource.defaults, ...base, ...record } as unknown as RecordOf<R>)
    }
    for (let i = 0; i < size.identities; i += 1) {
      const roleAttributes = attributesOf(random)
      await insert(identities, {
        id: `i${i}`,
        name: `identity ${i}`,
        typeId: 'Device',
        externalId: null,
        roleAttributes,
      })
    }
    for (let i = 0; i < size.services; i += 1) {
      await insert(services, { id: `s${i}`, name: `service ${i}`, roleAttributes: attributesOf(random) })
    }
    for (let i = 0; i < size.routers; i += 1) {
      const fingerprint = null
      await insert(edgeRouters, { id: `r${i}`, name: `router ${i}`, fingerprint, roleAttributes: attributesOf(random) })
    }
    const [servicePolicyCount, routerPolicyCount, serviceRouterPolicyCount] = size.policies
    for (let i = 0; i < servicePolicyCount; i += 1) {
      const type = i % 2 === 0 ? 'Dial' : 'Bind'
      const identityRoles = rolesOf(random, i, servicePolicyCount, 0)
      const serviceRoles = rolesOf(random, i, servicePolicyCount, 1)
      const roles = { identityRoles, serviceRoles, postureCheckRoles: [] }
      await insert(servicePolicies, { id: `p${i}`, name: `policy ${i}`, type, semantic: semanticOf(i), ...roles })
    }
    for (let i = 0; i < routerPolicyCount; i += 1) {
      const identityRoles = rolesOf(random, i, routerPolicyCount, 0)
      const edgeRouterRoles = rolesOf(random, i, routerPolicyCount, 1)
      const named = { id: `q${i}`, name: `router policy ${i}`, isSystem: false, semantic: semanticOf(i) }
      await insert(edgeRouterPolicies, { ...named, identityRoles, edgeRouterRoles })
    }
    for (let i = 0; i < serviceRouterPolicyCount; i += 1) {
      const serviceRoles = rolesOf(random, i, serviceRouterPolicyCount, 0)
      const edgeRouterRoles = rolesOf(random, i, serviceRouterPolicyCount, 1)
      const named = { id: `o${i}`, name: `service router policy ${i}`, semantic: semanticOf(i) }
      await insert(serviceEdgeRouterPolicies, { ...named, serviceRoles, edgeRouterRoles })
    }
  })
  await storage.read((tx) => access.at(tx))
  const buildMs = performance.now() - from
  const token = await sessionOf(controller, 'i7')
  return { controller, size, buildMs, megabytes: memoryMegabytes() - empty, token }
}

/** The token of a new API session of an identity. */
async function sessionOf(controller: TestController, identityId: string): Promise<string> {
  const credentials = { username: `user ${identityId}`, password: 'Correct-Horse-1' }
  await givePassword(controller, identityId, credentials)
  const login = { query: { method: 'password' as const }, body: credentials }
  return (await controller.client().call('POST /authenticate', login)).data.token
}

async function serviceList({ controller, token }: Network): Promise<Timing> {
  return timed(200, async () => {
    await ask(controller, '/edge/client/v1/services?limit=100', token)
  })
}

async function accessQuestions({ controller, size }: Network): Promise<BenchRow[]> {
  const { engine } = controller
  const random = seeded(2)
  const pick = (count: number) => Math.floor(random() * count)
  const admin = await adminToken(controller)
  const index = await engine.context.storage.read((tx) => engine.context.access.at(tx))
  const target = (name: string, text: string, timing: Timing): BenchRow[] => [
    { name, value: timing.value, unit: 'ms', target: text },
    { name: `${name}: longest hold of the event loop`, value: timing.longestHoldMs, unit: 'ms', target: '<10 ms' },
  ]
  return [
    ...target(
      'policy advice, over HTTP in process',
      '<0.2 ms (W5)',
      await timed(200, async () => {
        const path = `/identities/i${pick(size.identities)}/policy-advice/s${pick(size.services)}`
        await ask(controller, `/edge/management/v1${path}`, admin)
      }),
    ),
    ...target(
      'who may dial this service, all of them',
      '<10 ms (W6)',
      await timed(50, async () => {
        index.identitiesOf(`s${pick(size.services)}`, 'Dial')
      }),
    ),
    ...target(
      'explain',
      '<2 ms (W7)',
      await timed(200, async () => {
        await engine.explain(`i${pick(size.identities)}`, `s${pick(size.services)}`, 'Dial')
      }),
    ),
    ...target(
      'simulate a policy on #all, counts and first page',
      'no target',
      await timed(3, async () => {
        await engine.simulate([{ kind: 'service-policies', action: 'create', body: EVERYONE }])
      }),
    ),
    ...target(
      'simulate one identity attribute',
      'no target',
      await timed(5, async () => {
        const body = { roleAttributes: [`a${pick(SPREAD.length)}`] }
        await engine.simulate([{ kind: 'identities', action: 'update', id: `i${pick(size.identities)}`, body }])
      }),
    ),
  ]
}

const EVERYONE = {
  name: 'everyone',
  type: 'Dial' as const,
  semantic: 'AnyOf' as const,
  identityRoles: ['#all'],
  serviceRoles: ['#all'],
  postureCheckRoles: [],
  tags: {},
}

/** Writes, each until the identity's own list of services has been asked for again. */
async function changes({ controller, token }: Network): Promise<BenchRow[]> {
  const { engine } = controller
  const { storage, access } = engine.context
  const see = () => storage.read(async (tx) => (await access.at(tx)).allows('i7', 's7', 'Dial'))
  const ids: string[] = []
  const create = await timed(20, async () => {
    ids.push((await engine.servicePolicies.create(SYSTEM_CALL, { ...EVERYONE, name: `everyone ${ids.length}` })).id)
    await see()
  })
  const patch = await timed(20, async () => {
    const semantic = Math.random() < 0.5 ? 'AllOf' : 'AnyOf'
    await engine.servicePolicies.patch(SYSTEM_CALL, ids[0] ?? '', { semantic, serviceRoles: ['#a1'] })
    await see()
  })
  const remove = await timed(20, async () => {
    await engine.servicePolicies.delete(SYSTEM_CALL, ids.pop() ?? '')
    await see()
  })
  let round = 0
  const attribute = await timed(100, async () => {
    round += 1
    await engine.identities.patch(SYSTEM_CALL, `i${round}`, { roleAttributes: [`a${round % SPREAD.length}`] })
    await see()
  })
  await ask(controller, '/edge/client/v1/services?limit=100', token)
  const held = (name: string, { longestHoldMs }: Timing): BenchRow => {
    return { name: `${name}: longest hold of the event loop`, value: longestHoldMs, unit: 'ms', target: '<10 ms' }
  }
  return [
    { name: 'create a #all policy until visible', value: create.value, unit: 'ms', target: '<20 ms (W8)' },
    held('create a #all policy', create),
    { name: 'patch a #all policy until visible', value: patch.value, unit: 'ms', target: '<20 ms (W8)' },
    held('patch a #all policy', patch),
    { name: 'delete a #all policy until visible', value: remove.value, unit: 'ms', target: '<20 ms (W8)' },
    held('delete a #all policy', remove),
    {
      name: 'change the attributes of one identity until visible',
      value: attribute.value,
      unit: 'ms',
      target: '<1 ms',
    },
    held('change the attributes of one identity', attribute),
  ]
}

/** One identity with 50 posture checks under 200 policies reports on all of them at once. */
async function posture(): Promise<BenchRow[]> {
  const { controller, token } = await network({ identities: 1000, services: 200, routers: 10, policies: [0, 1, 1] })
  const { engine } = controller
  await engine.context.storage.write(async (tx) => {
    const base = { createdAt: 0, updatedAt: 0, tags: {} }
    for (let i = 0; i < 50; i += 1) {
      const process = { osType: 'Linux', path: `/bin/${i}`, hashes: [], signerFingerprint: '' }
      const named = { id: `c${i}`, name: `check ${i}`, typeId: 'PROCESS', roleAttributes: [`c${i % 10}`], process }
      const record = { ...postureChecks.defaults, ...base, ...named }
      await tx.collection(postureChecks).insert(record as unknown as RecordOf<typeof postureChecks>)
    }
    for (let i = 0; i < 200; i += 1) {
      const roles = { identityRoles: ['@i7'], serviceRoles: [`@s${i}`], postureCheckRoles: [`#c${i % 10}`] }
      const named = { id: `p${i}`, name: `policy ${i}`, type: 'Dial', semantic: 'AnyOf' }
      const record = { ...servicePolicies.defaults, ...base, ...named, ...roles }
      await tx.collection(servicePolicies).insert(record as unknown as RecordOf<typeof servicePolicies>)
    }
  })
  let round = 0
  const bulk = await timed(100, async () => {
    round += 1
    const responses = Array.from({ length: 50 }, (_, i) => ({
      id: `c${i}`,
      typeId: 'PROCESS',
      path: `/bin/${i}`,
      isRunning: round % 2 === 0,
      hash: 'aa',
    }))
    await ask(controller, '/edge/client/v1/posture-response-bulk', token, responses)
  })
  await controller.close()
  return [
    {
      name: 'posture bulk response, 50 checks over 200 policies',
      value: bulk.value,
      unit: 'ms',
      target: '<2 ms (W15)',
    },
    {
      name: 'posture bulk response: longest hold of the event loop',
      value: bulk.longestHoldMs,
      unit: 'ms',
      target: '<10 ms',
    },
  ]
}

async function adminToken(controller: TestController): Promise<string> {
  const login = { query: { method: 'password' as const }, body: { username: 'admin', password: 'admin-password' } }
  return (await controller.management.call('POST /authenticate', login)).data.token
}

/** Sends one request through the HTTP function and reads the whole answer. */
async function ask(controller: TestController, path: string, token: string, body?: unknown): Promise<string> {
  const headers = { 'zt-session': token, 'content-type': 'application/json' }
  const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await controller.fetch(new Request(`https://controller.test:1280${path}`, { headers, ...post }))
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} was refused: ${text}`)
  return text
}

interface Timing {
  /** The median, in ms. */
  readonly value: number
  readonly unit: 'ms'
  readonly longestHoldMs: number
}

/** Runs work so many times after a tenth as many to warm up, one turn of the event loop apart. */
async function timed(runs: number, work: () => Promise<void>): Promise<Timing> {
  for (let run = 0; run < Math.ceil(runs / 10); run += 1) await work()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  await nextTurn()
  delay.enable()
  const times: number[] = []
  for (let run = 0; run < runs; run += 1) {
    await nextTurn()
    const from = performance.now()
    await work()
    times.push(performance.now() - from)
  }
  await nextTurn()
  delay.disable()
  return { value: times.sort((a, b) => a - b)[times.length >> 1] ?? 0, unit: 'ms', longestHoldMs: delay.max / 1e6 }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2))
}

function memoryMegabytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1e6
}

/** A policy on `#all` and one on a single entity each way; the others name one to four attributes. */
function rolesOf(random: () => number, number: number, count: number, side: 0 | 1): string[] {
  const special = side === 0 ? 0 : count >> 1
  if (number === special) return ['#all']
  const size = 1 + Math.floor(random() * 4)
  return [...new Set(Array.from({ length: size }, () => `#a${Math.floor(random() * SPREAD.length)}`))].sort()
}

function semanticOf(number: number): 'AllOf' | 'AnyOf' {
  return number % 4 === 3 ? 'AllOf' : 'AnyOf'
}

function attributesOf(random: () => number): string[] {
  return SPREAD.flatMap((oneIn, number) => (random() * oneIn < 1 ? [`a${number}`] : []))
}

/** A reproducible stream of numbers in [0, 1): mulberry32. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

if (import.meta.main) {
  for (const { name, value, unit, ceiling, target } of await benchScale()) {
    const ratio = ceiling === undefined ? '' : `${(value / ceiling.value).toFixed(2)} x ${ceiling.name}`
    console.log([name.padEnd(66), `${value.toPrecision(3)} ${unit}`.padEnd(12), target ?? '', ratio].join('  '))
  }
}
