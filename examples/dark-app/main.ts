import { createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { applyModel, readModel } from 'portcullis/model'
import { serve } from 'portcullis/node'
import { payroll, wiki } from './apps.ts'

const port = Number(process.env.PORT ?? 1280)
const admin = { username: 'admin', password: 'admin-of-the-example' }

/** Staff reach both apps, guests the wiki; one identity hosts them. */
const MODEL = `
identities:
  - { name: app-server, type: Service }
  - { name: keeper, type: User, roleAttributes: [staff] }
  - { name: guest, type: User }
services:
  - { name: wiki, encryptionRequired: true }
  - { name: payroll, encryptionRequired: true }
servicePolicies:
  - { name: host, type: Bind, semantic: AnyOf, identityRoles: ['@app-server'], serviceRoles: ['#all'] }
  - { name: staff, type: Dial, semantic: AnyOf, identityRoles: ['#staff'], serviceRoles: ['#all'] }
  - { name: guests, type: Dial, semantic: AnyOf, identityRoles: ['@guest'], serviceRoles: ['@wiki'] }
edgeRouterPolicies:
  - { name: all, semantic: AnyOf, identityRoles: ['#all'], edgeRouterRoles: ['#all'] }
serviceEdgeRouterPolicies:
  - { name: all, semantic: AnyOf, serviceRoles: ['#all'], edgeRouterRoles: ['#all'] }
`

const controller = await createController({ storage: memoryStorage(), address: `127.0.0.1:${port}`, admin })
const server = await serve(controller, { port, fabric: true, router: true })
const { router } = server
if (router === undefined) throw new Error('no router runs')
await applyModel(
  { baseUrl: server.url, fetch: controller.fetch, token: await logIn() },
  await readModel({ name: 'apps.yaml', text: MODEL }),
)

const host = router.as('app-server')
await host.host('wiki', wiki())
await host.host('payroll', payroll())
console.log(`wiki and payroll are hosted; the only port that is open is ${port}`)

for (const [name, url] of [
  ['keeper', 'http://wiki/admin'],
  ['keeper', 'http://payroll/'],
  ['guest', 'http://wiki/'],
  ['guest', 'http://wiki/admin'],
  ['guest', 'http://payroll/'],
] as const) {
  console.log(`${name} ${url}: ${await told(router.as(name).fetch(url))}`)
}
await server.close()
await controller.close()

async function told(response: Promise<Response>): Promise<string> {
  try {
    const { status } = await response
    return `${status} ${await (await response).text()}`
  } catch (error) {
    return String(error instanceof Error ? Reflect.get(error, 'code') : error)
  }
}

async function logIn(): Promise<string> {
  const request = new Request(`${server.url}/edge/management/v1/authenticate?method=password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
  })
  const { data }: { data: { token: string } } = JSON.parse(await (await controller.fetch(request)).text())
  return data.token
}
