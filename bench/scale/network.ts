import { createTestController, type TestController } from 'portcullis/testing'
import { contextOf } from '../../src/engine/engine.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../../src/resources/access/policies.ts'
import type { RecordOf, Resource } from '../../src/resources/declaration/resource.ts'
import { identities } from '../../src/resources/identities/identities.ts'
import { edgeRouters } from '../../src/resources/routers/edge-routers.ts'
import { services } from '../../src/resources/services/services.ts'
import { givePassword } from '../../test/support/identity-state.ts'
import { seeded } from '../seeded.ts'

/** The attributes of the large scenario: each is spread over one in so many entities. */
export const SPREAD = [2, 2, 3, 4, 5, 8, 10, 10]

export interface Size {
  readonly identities: number
  readonly services: number
  readonly routers: number
  /** Service, edge router and service edge router policies. */
  readonly policies: readonly [number, number, number]
}

/** A twentieth of the identities of the large scenario, everything else the same. */
export const MEDIUM: Size = { identities: 5_000, services: 2_000, routers: 500, policies: [250, 250, 100] }
export const LARGE: Size = { identities: 100_000, services: 2_000, routers: 500, policies: [250, 250, 100] }
export const MANY_SERVICES: Size = { identities: 16_000, services: 10_000, routers: 100, policies: [100, 100, 100] }

export interface Network {
  readonly controller: TestController
  readonly size: Size
  readonly buildMs: number
  readonly megabytes: number
  readonly token: string
}

/** A controller that holds a network of the size, its index filled, and an identity in an API session. */
export async function network(size: Size): Promise<Network> {
  const controller = await createTestController()
  const { engine, storage } = controller
  const { access } = contextOf(engine)
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
