// The library that makes certificates reads decorator metadata while it loads.
import 'reflect-metadata'
import fc from 'fast-check'
import {
  type AdminOptions,
  applyModel,
  modelText,
  type NetworkModel,
  planModel,
  readModel,
  readNetwork,
} from 'portcullis/model'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { newAuthority } from '../support/third-party.ts'

async function emptyController(): Promise<AdminOptions> {
  const controller = await createTestController(await withSharedPki())
  const login = { query: { method: 'password' as const }, body: TEST_ADMIN }
  const { data } = await controller.management.call('POST /authenticate', login)
  return { baseUrl: 'https://controller.test:1280', fetch: (request) => controller.fetch(request), token: data.token }
}

const ATTRIBUTES = ['a', 'b', 'c d']
const attributes = fc.subarray(ATTRIBUTES)
const tags = fc.dictionary(fc.constantFrom('owner', 'x'), fc.oneof(fc.string(), fc.boolean(), fc.constant(null)), {
  maxKeys: 2,
})
// Names as people give them, and names that look like something else.
const name = fc.oneof(
  fc.constantFrom('#all', '@x', 'null', '0', 'a: b', "it's", 'ä\u2028'),
  fc.string({ minLength: 1, maxLength: 12 }),
)
const names = fc.uniqueArray(
  name.filter((text) => text.trim() !== ''),
  { minLength: 1, maxLength: 3 },
)
const semantic = fc.constantFrom('AnyOf' as const, 'AllOf' as const)

function rolesFor(known: readonly string[]) {
  const entries = [...ATTRIBUTES.map((attribute) => `#${attribute}`), ...known.map((one) => `@${one}`)]
  return fc.oneof(fc.constant(['#all']), fc.subarray(entries))
}

function each<T>(known: readonly string[], fields: fc.Arbitrary<T>): fc.Arbitrary<(T & { name: string })[]> {
  return fc.tuple(...known.map((one) => fields.map((rest) => ({ ...rest, name: one }))))
}

const check = fc.oneof(
  fc.record({
    typeId: fc.constant('DOMAIN' as const),
    domains: fc.constantFrom(['corp.example'], ['B.example', 'a.example']),
  }),
  fc.record({ typeId: fc.constant('MAC' as const), macAddresses: fc.constant(['00:11:22:AA:bb:CC', '001122334455']) }),
  fc.record({
    typeId: fc.constant('MFA' as const),
    timeoutSeconds: fc.constantFrom(-1, 60),
    promptOnWake: fc.boolean(),
  }),
  fc.record({
    typeId: fc.constant('OS' as const),
    operatingSystems: fc.constant([
      { type: 'Windows' as const, versions: ['>=10.0.0'] },
      { type: 'Linux' as const, versions: [] },
    ]),
  }),
  fc.record({
    typeId: fc.constant('PROCESS_MULTI' as const),
    semantic: fc.constantFrom('AllOf' as const, 'AnyOf' as const),
    processes: fc.constant([{ osType: 'Linux' as const, path: '/bin/a', hashes: [], signerFingerprints: [] }]),
  }),
)

const all = fc.record({
  identities: names,
  services: names,
  routers: names,
  checks: names,
  configs: names,
  policies: names,
  transits: fc.constant(['transit']),
})

function model(ca: string): fc.Arbitrary<NetworkModel> {
  return all.chain(({ identities, services, routers, checks, configs, policies, transits }) => {
    const common = { roleAttributes: attributes, tags }
    const roles = { identities: rolesFor(identities), services: rolesFor(services), routers: rolesFor(routers) }
    const transit = transits.filter((one) => !routers.includes(one))
    // A model that lists no router policies has those of all with all; an empty list is another model.
    const orLeftOut = <T>(list: fc.Arbitrary<T[]>) => fc.oneof(list, fc.constant([]), fc.constant(undefined))
    return fc
      .record({
        cas: fc.constantFrom(
          [],
          [
            {
              name: 'our ca',
              certPem: ca,
              isAuthEnabled: true,
              isAutoCaEnrollmentEnabled: false,
              isOttCaEnrollmentEnabled: true,
              identityRoles: ['b', 'a'],
            },
          ],
        ),
        configs: each(
          configs,
          fc.record({
            configTypeId: fc.constant('host.v1'),
            data: fc.record({
              address: fc.constant('h'),
              port: fc.nat(60_000).map((port) => port + 1),
              protocol: fc.constant('tcp'),
            }),
            tags,
          }),
        ),
        postureChecks: each(checks, check),
        services: each(
          services,
          fc.record({
            ...common,
            encryptionRequired: fc.boolean(),
            terminatorStrategy: fc.constantFrom('random' as const, 'smartrouting' as const),
            configs: fc.subarray([...configs], { maxLength: 1 }),
          }),
        ),
        edgeRouters: each(routers, fc.record({ ...common, isTunnelerEnabled: fc.boolean(), cost: fc.nat(100) })),
        transitRouters: each(transit, fc.record({ tags })),
        identities: each(
          identities.filter((one) => !routers.includes(one)),
          fc.record({
            ...common,
            type: fc.constantFrom('Device' as const, 'User' as const),
            isAdmin: fc.boolean(),
            appData: tags,
            serviceHostingCosts: fc
              .subarray([...services])
              .map((some) => Object.fromEntries(some.map((one) => [one, 7]))),
            serviceConfigs: fc
              .subarray([...services])
              .map((some) => some.flatMap((service) => configs.slice(0, 1).map((config) => ({ service, config })))),
          }),
        ),
        servicePolicies: each(
          policies,
          fc.record({
            type: fc.constantFrom('Dial' as const, 'Bind' as const),
            semantic,
            identityRoles: rolesFor(identities.filter((one) => !routers.includes(one))),
            serviceRoles: roles.services,
            postureCheckRoles: rolesFor(checks),
            tags,
          }),
        ),
        edgeRouterPolicies: orLeftOut(each(policies, fc.record({ semantic, edgeRouterRoles: roles.routers }))),
        serviceEdgeRouterPolicies: orLeftOut(
          each(policies, fc.record({ semantic, edgeRouterRoles: roles.routers, serviceRoles: roles.services })),
        ),
      })
      .map(withoutLeftOut)
  })
}

type OrLeftOut<T> = { [Key in keyof T]: T[Key] | undefined }
type RouterPolicies = Required<Pick<NetworkModel, 'edgeRouterPolicies' | 'serviceEdgeRouterPolicies'>>

function withoutLeftOut(model: Omit<NetworkModel, keyof RouterPolicies> & OrLeftOut<RouterPolicies>): NetworkModel {
  const { edgeRouterPolicies, serviceEdgeRouterPolicies, ...rest } = model
  return {
    ...rest,
    ...(edgeRouterPolicies && { edgeRouterPolicies }),
    ...(serviceEdgeRouterPolicies && { serviceEdgeRouterPolicies }),
  }
}

describe('a round trip', () => {
  let ca = ''
  beforeAll(async () => {
    ca = (await newAuthority('third party')).certificate.toString('pem')
  })

  it(
    'changes nothing: what is written from a controller makes another like it, and leaves its own as it is',
    async () => {
      await fc.assert(
        fc.asyncProperty(model(ca), async (generated) => {
          const first = await emptyController()
          await applyModel(first, await readModel(generated))
          const written = await modelText(await readNetwork(first))
          const again = await readModel({ name: 'exported.yaml', text: written })
          expect((await planModel(first, again, { prune: true })).changes).toEqual([])
          const second = await emptyController()
          await applyModel(second, again)
          expect(await modelText(await readNetwork(second))).toBe(written)
          expect((await planModel(second, await readModel(generated), { prune: true })).changes).toEqual([])
        }),
        runs(4),
      )
    },
    patience(60_000),
  )
})
