import type { Controller } from 'portcullis'

/** Calls the management API of a controller in this process as its admin. */
export interface Admin {
  call(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>>
  /** Creates an entity; answers its id. */
  create(path: string, body: object): Promise<string>
}

export async function logIn(controller: Pick<Controller, 'fetch'>, credentials: object): Promise<Admin> {
  const send = async (token: string, method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { 'zt-session': token }) }
    const isWhole = path.startsWith('/fabric/') || path.startsWith('/portcullis/')
    const base = isWhole ? 'https://localhost' : 'https://localhost/edge/management/v1'
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await controller.fetch(new Request(`${base}${path}`, init))
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text).data
  }
  const { token } = await send('', 'POST', '/authenticate?method=password', credentials)
  const call: Admin['call'] = (method, path, body) => send(token, method, path, body)
  return { call, create: async (path, body) => String((await call('POST', path, body)).id) }
}

/** A service `web` that leads to a port of this machine, and who may dial and bind it. */
export async function createNetwork(admin: Admin, webPort: number): Promise<{ readonly dialPolicy: string }> {
  const types = Object.values(await admin.call('GET', '/config-types?filter=name=%22host.v1%22')) as {
    readonly id: string
  }[]
  const configTypeId = types[0]?.id
  const data = { protocol: 'tcp', address: '127.0.0.1', port: webPort }
  const config = await admin.create('/configs', { name: 'web.host', configTypeId, data })
  await admin.create('/services', { name: 'web', encryptionRequired: true, configs: [config], roleAttributes: ['web'] })
  await admin.create('/services', {
    name: 'web-by-router',
    encryptionRequired: false,
    configs: [config],
    roleAttributes: ['web-by-router'],
  })
  const policy = (name: string, type: string, service: string, identity: string) => {
    const roles = { serviceRoles: [`#${service}`], identityRoles: [`#${identity}`] }
    return admin.create('/service-policies', { name, type, semantic: 'AnyOf', ...roles })
  }
  await policy('hosts bind web', 'Bind', 'web', 'hosts')
  const dialPolicy = await policy('clients dial web', 'Dial', 'web', 'clients')
  const meet = { name: 'everybody meets everywhere', semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
  await admin.create('/edge-router-policies', { ...meet, identityRoles: ['#all'] })
  await admin.create('/service-edge-router-policies', { ...meet, serviceRoles: ['#all'] })
  return { dialPolicy }
}

/** Lets one router host `web-by-router` and another one dial it. */
export async function letRoutersCarry(admin: Admin, hosting: string, dialing: string): Promise<void> {
  for (const [type, id] of [
    ['Bind', hosting],
    ['Dial', dialing],
  ] as const) {
    const roles = { serviceRoles: ['#web-by-router'], identityRoles: [`@${id}`] }
    await admin.create('/service-policies', { name: `router ${type}`, type, semantic: 'AnyOf', ...roles })
  }
}
