import { applyModel, planModel, readModel, readNetwork } from 'portcullis/model'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { modelFileOf } from '../../adapters/tools/explorer/page/what-if/model-file.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** An identity and a service with something in every member that a model file holds. */
const MODEL = {
  authPolicies: [{ name: 'strict', primary: PRIMARY(), secondary: { requireTotp: true, requireExtJwtSigner: null } }],
  configs: [{ name: 'host-wiki', configTypeId: 'host.v1', data: { protocol: 'tcp', address: 'localhost', port: 80 } }],
  services: [{ name: 'wiki', roleAttributes: ['internal'], configs: ['host-wiki'], terminatorStrategy: 'random' }],
  identities: [
    {
      name: 'host',
      type: 'Device',
      isAdmin: false,
      roleAttributes: ['hosts'],
      authPolicyId: 'strict',
      externalId: 'host@example',
      defaultHostingCost: 7,
      defaultHostingPrecedence: 'required',
      serviceHostingCosts: { wiki: 10 },
      serviceHostingPrecedences: { wiki: 'failed' },
      serviceConfigs: [{ service: 'wiki', config: 'host-wiki' }],
      permissions: ['service.read'],
      appData: { floor: '3' },
      tags: { site: 'here' },
    },
  ],
} as const

function PRIMARY() {
  const updb = {
    allowed: true,
    lockoutDurationMinutes: 0,
    maxAttempts: 5,
    minPasswordLength: 9,
    requireMixedCase: false,
    requireNumberChar: false,
    requireSpecialChar: false,
  }
  return { cert: { allowed: true, allowExpiredCerts: false }, extJwt: { allowed: false, allowedSigners: [] }, updb }
}

it('a change that is copied as model file, applied, changes role attributes alone', async () => {
  const net = await createTestController(await withSharedPki())
  const { data } = await net.management.call('POST /authenticate', { query: { method: 'password' }, body: TEST_ADMIN })
  const connection = { baseUrl: 'https://controller.test', fetch: net.fetch, token: data.token }
  await applyModel(connection, await readModel(MODEL))
  const network = await readNetwork(connection)
  const changes = (['identities', 'services'] as const).map((kind) => {
    const [entity] = network.all(kind).filter(({ name }) => name === 'host' || name === 'wiki')
    if (entity === undefined) throw new Error(`there is no such entity among the ${kind}`)
    const update = { kind, action: 'update', id: entity.id, name: entity.name, before: [] } as const
    return { ...update, roleAttributes: ['others'] }
  })

  const text = await modelFileOf(net.admin, changes)
  const plan = await planModel(connection, await readModel(parse(text)))
  expect(
    plan.changes.map((change) => [change.name, 'members' in change && change.members.map(({ member }) => member)]),
  ).toEqual([
    ['wiki', ['roleAttributes']],
    ['host', ['roleAttributes']],
  ])
  await net.close()
})
