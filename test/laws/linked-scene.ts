import { create, type ForeignClient } from '../contract/http/foreign-client.ts'

export interface ConfigType {
  readonly name: string
}
export interface Config {
  readonly name: string
  readonly type: ConfigType
}
export interface Service {
  readonly name: string
  readonly roles: readonly string[]
  readonly configs: readonly Config[]
  readonly floor: number | string | null
}
export interface Person {
  readonly name: string
  readonly roles: readonly string[]
}
export interface Policy {
  readonly name: string
  readonly services: readonly Service[]
  readonly identities: readonly Person[]
}
/** An invitation of an identity, or of an edge router: `identity` is null then. */
export interface Invitation {
  readonly name: string
  readonly identity: Person | null
}
export interface Terminator {
  readonly name: string
  readonly service: Service
}

/** The entities of the network, told apart from how they are stored. */
export interface LinkedScene {
  readonly '/configs': readonly Config[]
  readonly '/services': readonly Service[]
  readonly '/service-policies': readonly Policy[]
  readonly '/enrollments': readonly Invitation[]
  readonly '/terminators': readonly Terminator[]
}

/** Makes a small network in which names meet and some sets are empty; `names` finds a fact's name in its wire form. */
export async function makeLinkedScene(admin: ForeignClient): Promise<LinkedScene> {
  const types = await Promise.all(
    ['t1', 't2'].map(async (name) => ({ name, id: await create(admin, '/config-types', { name, schema: {} }) })),
  )
  const configs = []
  for (const [name, type] of [
    ['a', 0],
    ['ab', 0],
    ['b', 1],
    ['B', 1],
  ] as const) {
    const of = types[type]
    if (of === undefined) throw new Error('no such type')
    const id = await create(admin, '/configs', { name, configTypeId: of.id, data: {} })
    configs.push({ name, type: { name: of.name }, id })
  }
  const services = []
  for (const [name, roles, which, floor] of SERVICES) {
    const own = configs.filter((config) => which.includes(config.name))
    const tags = floor === null ? {} : { floor }
    const body = { name, roleAttributes: roles, configs: own.map(({ id }) => id), tags }
    services.push({ name, roles, configs: own, floor, id: await create(admin, '/services', body) })
  }
  const people = []
  for (const [name, roles] of [
    ['p', ['x']],
    ['q', ['x', 'y']],
    ['r', []],
  ] as const) {
    const body = { name, type: 'User', isAdmin: false, roleAttributes: roles, enrollment: { ott: true } }
    people.push({ name, roles, id: await create(admin, '/identities', body) })
  }
  const policies = []
  for (const [name, role, whom] of [
    ['one', 'red', 'x'],
    ['two', 'blue', 'y'],
    ['three', 'none', 'x'],
    ['four', 'red', 'none'],
  ] as const) {
    const body = { name, type: 'Dial', semantic: 'AnyOf', serviceRoles: [`#${role}`], identityRoles: [`#${whom}`] }
    await create(admin, '/service-policies', body)
    const selected = services.filter(({ roles }) => roles.some((held) => held === role))
    policies.push({
      name,
      services: selected,
      identities: people.filter(({ roles }) => roles.some((held) => held === whom)),
    })
  }
  const router = await create(admin, '/edge-routers', { name: 'router' })
  const terminators = []
  for (const service of services.slice(0, 4)) {
    const body = { address: service.name, binding: 'transport', service: service.id, router }
    await create(admin, '/terminators', body)
    terminators.push({ name: service.name, service })
  }
  const invitations: readonly Invitation[] = people.map((identity) => ({ name: identity.name, identity }))
  return {
    '/configs': configs,
    '/services': services,
    '/service-policies': policies,
    '/enrollments': [...invitations, { name: 'router', identity: null }],
    '/terminators': terminators,
  }
}

const SERVICES: readonly (readonly [string, readonly string[], readonly string[], number | string | null])[] = [
  ['web', ['red'], ['a', 'b'], 3],
  ['Web', ['red', 'blue'], ['ab'], '3'],
  ['ssh', [], [], null],
  ['db', ['blue'], ['a'], 12],
  ['mail', ['blue', 'green'], ['ab', 'B'], 'top'],
]

/** By which name each of the facts is known in the wire form of its list. */
export const NAME_OF: { readonly [Path in keyof LinkedScene]: (wire: Readonly<Record<string, unknown>>) => unknown } = {
  '/configs': ({ name }) => name,
  '/services': ({ name }) => name,
  '/service-policies': ({ name }) => name,
  '/enrollments': ({ identity, edgeRouter }) => Reflect.get(Object(identity ?? edgeRouter), 'name'),
  '/terminators': ({ address }) => address,
}
