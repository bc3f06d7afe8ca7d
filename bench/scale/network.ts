import type { Storage } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import { engineOf } from '../../src/controller/guarded-engine.ts'
import { contextOf } from '../../src/engine/entity-services.ts'
import {
  edgeRouterPolicies,
  serviceEdgeRouterPolicies,
  servicePolicies,
} from '../../src/facts/access/policy.resource.ts'
import { identities } from '../../src/facts/identities/identity.resource.ts'
import { edgeRouters } from '../../src/facts/routers/edge-router.resource.ts'
import { services } from '../../src/facts/services/service.resource.ts'
import type { RecordOf, Resource } from '../../src/kernel/declaration/resource.ts'
import { givePassword } from '../../test/support/identity-state.ts'
import { seeded } from '../seeded.ts'

/** The attributes of the large scenario: each is spread over one entity in this number. */
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
  const { access } = contextOf(engineOf(engine))
  const empty = memoryMegabytes()
  const from = performance.now()
  await fillNetwork(storage, size)
  await storage.read((tx) => access.at(tx))
  const buildMs = performance.now() - from
  const token = await sessionOf(controller, 'i7')
  return { controller, size, buildMs, megabytes: memoryMegabytes() - empty, token }
}

const AT_ONCE = 5000

/** Writes a network of the size, 5,000 entities a write. Ids are `i0…`, `s0…`, `r0…`; the same size gives the same network. */
export async function fillNetwork(storage: Storage, size: Size): Promise<void> {
  const random = seeded(1)
  const insertAll = async <R extends Resource>(resource: R, count: number, recordOf: (number: number) => object) => {
    for (let begin = 0; begin < count; begin += AT_ONCE) {
      await storage.write(async (tx) => {
        const collection = tx.collection(resource)
        for (let number = begin; number < Math.min(begin + AT_ONCE, count); number += 1) {
          const base = { createdAt: 0, updatedAt: 0, tags: {} }
          // The defaults of the declaration fill in whatever the benchmark does not look at.
          const record = { ...resource.defaults, ...base, ...recordOf(number) }
          await collection.insert(record as unknown as RecordOf<R>)
        }
      })
    }
  }
  await insertAll(identities, size.identities, (number) => ({
    id: `i${number}`,
    name: `identity ${number}`,
    typeId: 'Device',
    externalId: null,
    roleAttributes: attributesOf(random),
  }))
  await insertAll(services, size.services, (number) => ({
    id: `s${number}`,
    name: `service ${number}`,
    roleAttributes: attributesOf(random),
  }))
  await insertAll(edgeRouters, size.routers, (number) => ({
    id: `r${number}`,
    name: `router ${number}`,
    fingerprint: null,
    roleAttributes: attributesOf(random),
  }))
  const [servicePolicyCount, routerPolicyCount, serviceRouterPolicyCount] = size.policies
  await insertAll(servicePolicies, servicePolicyCount, (number) => ({
    id: `p${number}`,
    name: `policy ${number}`,
    type: number % 2 === 0 ? 'Dial' : 'Bind',
    semantic: semanticOf(number),
    identityRoles: rolesOf(random, number, servicePolicyCount, 0),
    serviceRoles: rolesOf(random, number, servicePolicyCount, 1),
    postureCheckRoles: [],
  }))
  await insertAll(edgeRouterPolicies, routerPolicyCount, (number) => ({
    id: `q${number}`,
    name: `router policy ${number}`,
    isSystem: false,
    semantic: semanticOf(number),
    identityRoles: rolesOf(random, number, routerPolicyCount, 0),
    edgeRouterRoles: rolesOf(random, number, routerPolicyCount, 1),
  }))
  await insertAll(serviceEdgeRouterPolicies, serviceRouterPolicyCount, (number) => ({
    id: `o${number}`,
    name: `service router policy ${number}`,
    semantic: semanticOf(number),
    serviceRoles: rolesOf(random, number, serviceRouterPolicyCount, 0),
    edgeRouterRoles: rolesOf(random, number, serviceRouterPolicyCount, 1),
  }))
}

/** The token of a new API session of an identity. */
export async function sessionOf(controller: TestController, identityId: string): Promise<string> {
  const credentials = { username: `user ${identityId}`, password: 'Correct-Horse-1' }
  await givePassword(controller, identityId, credentials)
  const login = { query: { method: 'password' as const }, body: credentials }
  return (await controller.client().call('POST /authenticate', login)).data.token
}

/** The heap that is alive, in MB (where the garbage collector can be run). */
export function memoryMegabytes(): number {
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
