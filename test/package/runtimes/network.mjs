// A network on Node for devices of other runtimes: tells the tokens of two, and serves until its input ends.
import { createController } from 'portcullis'
import { createManagementClient } from 'portcullis/client'
import { memoryStorage } from 'portcullis/memory'
import { applyModel, readModel } from 'portcullis/model'
import { serve } from 'portcullis/node'

const ADMIN = { username: 'admin', password: 'a-long-password' }
const AnyOf = { semantic: 'AnyOf' }
const MODEL = {
  services: [{ name: 'payroll', encryptionRequired: true }],
  servicePolicies: [
    { name: 'dial', type: 'Dial', ...AnyOf, identityRoles: ['#staff'], serviceRoles: ['#all'] },
    { name: 'host', type: 'Bind', ...AnyOf, identityRoles: ['#staff'], serviceRoles: ['#all'] },
  ],
  edgeRouterPolicies: [{ name: 'all', ...AnyOf, identityRoles: ['#all'], edgeRouterRoles: ['#all'] }],
  serviceEdgeRouterPolicies: [{ name: 'all', ...AnyOf, serviceRoles: ['#all'], edgeRouterRoles: ['#all'] }],
}

const controller = await createController({ storage: memoryStorage(), address: 'localhost:1280', admin: ADMIN })
const server = await serve(controller, { port: 0, fabric: true, router: true })
controller.changeAddress(`localhost:${server.port}`)
const connect = { baseUrl: server.url, fetch: controller.fetch }
const login = { query: { method: 'password' }, body: ADMIN }
const { data } = await createManagementClient(connect).call('POST /authenticate', login)
await applyModel({ ...connect, token: data.token }, await readModel(MODEL))
const tokens = await Promise.all(
  ['host', 'caller'].map(async (name) => (await controller.invite(name, { roleAttributes: ['staff'] })).jwt),
)
console.log(tokens.join(' '))
process.stdin.on('end', () => process.exit(0)).resume()
