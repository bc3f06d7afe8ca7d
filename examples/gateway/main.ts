import { createServer } from 'node:https'
import { createController, createPkiMaterial } from 'portcullis'
import { createManagementClient } from 'portcullis/client'
import { gateway, gatewayRedirectUri } from 'portcullis/gateway'
import { memoryStorage } from 'portcullis/memory'
import { applyModel, readModel } from 'portcullis/model'
import { serve, tlsOptions } from 'portcullis/node'
import { wiki } from '../dark-app/apps.ts'

const { PORT = '1280', GATEWAY_PORT = '14443' } = process.env
const port = Number(PORT)
const hosts = `*.apps.localhost:${GATEWAY_PORT}`
const admin = { username: 'admin', password: 'admin-of-the-example' }
const keeper = { username: 'keeper', password: 'keeper-of-the-example' }

/** The keeper reaches the wiki; one identity hosts it. */
const MODEL = `
identities:
  - { name: app-server, type: Service }
  - { name: keeper, type: User, roleAttributes: [staff] }
services:
  - { name: wiki, encryptionRequired: true }
servicePolicies:
  - { name: host, type: Bind, semantic: AnyOf, identityRoles: ['@app-server'], serviceRoles: ['#all'] }
  - { name: staff, type: Dial, semantic: AnyOf, identityRoles: ['#staff'], serviceRoles: ['#all'] }
edgeRouterPolicies:
  - { name: all, semantic: AnyOf, identityRoles: ['#all'], edgeRouterRoles: ['#all'] }
serviceEdgeRouterPolicies:
  - { name: all, semantic: AnyOf, serviceRoles: ['#all'], edgeRouterRoles: ['#all'] }
`

const controller = await createController({
  ...{ storage: memoryStorage(), address: `localhost:${port}`, admin },
  oidc: { redirectUris: [gatewayRedirectUri(hosts)] },
})
const server = await serve(controller, { port, fabric: true, router: true })
const anonymous = createManagementClient({ baseUrl: server.url, fetch: controller.fetch })
const { data } = await anonymous.call('POST /authenticate', { query: { method: 'password' }, body: admin })
const management = anonymous.withToken(data.token)
await applyModel(
  { baseUrl: server.url, fetch: controller.fetch, token: data.token },
  await readModel({ name: 'apps.yaml', text: MODEL }),
)
const found = await management.call('GET /identities', { query: { filter: 'name="keeper"' } })
const identityId = found.data[0]?.id ?? ''
await management.call('POST /authenticators', { body: { method: 'updb', identityId, ...keeper } })
await server.router.as('app-server').host('wiki', wiki())

// A certificate of a public authority takes the place of this one.
const request = { hosts: ['*.apps.localhost'], trustDomain: 'apps.localhost', now: Date.now() }
const { serverCertPem: cert, serverKeyPem: key } = await createPkiMaterial(request)
const door = gateway(controller, { hosts, router: server.router })
const https = createServer(tlsOptions({ cert, key }))
door.attach(https)
https.listen(Number(GATEWAY_PORT), '127.0.0.1', () => console.log(`apps at ${door.home}: log in as ${keeper.username}`))

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await door.close()
    https.close()
    https.closeAllConnections()
    await server.close()
    await controller.close()
  })
}
