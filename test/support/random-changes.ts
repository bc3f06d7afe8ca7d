import type { Admin } from '../../examples/traffic/network.ts'

type Body = Readonly<Record<string, unknown>>

/** A kind of entity that routers decide by: where it is, and what it may be. */
interface Kind {
  readonly path: string
  fields(random: (below: number) => number, known: ReadonlyMap<string, readonly string[]>): Body
}

const ROLES = ['a', 'b', 'c', 'd']
const SEMANTICS = ['AnyOf', 'AllOf']

/** Numbers that look random and are the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const KINDS: readonly Kind[] = [
  {
    path: '/identities',
    fields: (random) => ({
      type: 'Device',
      isAdmin: false,
      roleAttributes: some(random, ROLES),
      appData: random(2) === 0 ? {} : { color: `c${random(9)}` },
      defaultHostingCost: random(100),
      defaultHostingPrecedence: ['default', 'required', 'failed'][random(3)],
    }),
  },
  {
    path: '/services',
    fields: (random, known) => ({
      encryptionRequired: random(2) === 0,
      roleAttributes: some(random, ROLES),
      configs: (known.get('/configs') ?? []).slice(0, random(2)),
    }),
  },
  {
    path: '/service-policies',
    fields: (random, known) => ({
      type: random(2) === 0 ? 'Dial' : 'Bind',
      semantic: SEMANTICS[random(2)],
      identityRoles: roles(random, known.get('/identities')),
      serviceRoles: roles(random, known.get('/services')),
      postureCheckRoles: random(3) === 0 ? ['#safe'] : [],
    }),
  },
  {
    path: '/posture-checks',
    fields: (random) => ({
      roleAttributes: random(2) === 0 ? ['safe'] : [],
      ...[
        { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: [`>=${random(9)}.0.0`] }] },
        { typeId: 'MAC', macAddresses: [`00000000000${random(9)}`] },
        { typeId: 'MFA', timeoutSeconds: random(600), promptOnWake: random(2) === 0 },
        { typeId: 'PROCESS', process: { osType: 'Linux', path: `/bin/p${random(9)}` } },
        { typeId: 'DOMAIN', domains: [`d${random(9)}.test`] },
      ][random(5)],
    }),
  },
]

/**
 * Makes `count` changes of the facts that routers decide by, one after the other: entities are created, changed and deleted, and have
 * configs of their own unless `withOverrides` is false.
 */
export async function changeAtRandom(
  admin: Admin,
  { count, seed, withOverrides }: { readonly count: number; readonly seed: number; readonly withOverrides: boolean },
): Promise<void> {
  const random = numbers(seed)
  const known = new Map<string, string[]>([['/configs', [await oneConfig(admin, seed)]]])
  const of = (path: string) => known.get(path) ?? known.set(path, []).get(path) ?? []
  for (let made = 0; made < count; made += 1) {
    const kind = KINDS[random(KINDS.length)] ?? KINDS[0]
    if (kind === undefined) return
    const ids = of(kind.path)
    const id = ids[random(ids.length)]
    const dice = random(10)
    if (id === undefined || dice < 4) {
      ids.push(await admin.create(kind.path, { name: `${seed} ${made}`, ...kind.fields(random, known) }))
    } else if (dice < 6) {
      await admin.call('DELETE', `${kind.path}/${id}`)
      ids.splice(ids.indexOf(id), 1)
    } else if (dice === 6 && withOverrides && kind.path === '/identities') {
      const [serviceId, configId] = [of('/services')[0], of('/configs')[0]]
      if (serviceId !== undefined) {
        await admin.call('POST', `${kind.path}/${id}/service-configs`, [{ serviceId, configId }])
      }
    } else if (dice === 7 && kind.path === '/identities') {
      await admin.call('POST', '/revocations', { type: 'IDENTITY', id })
    } else if (kind.path !== '/posture-checks') {
      const { type: _type, ...changed } = kind.fields(random, known)
      await admin.call('PATCH', `${kind.path}/${id}`, changed)
    } else {
      const { typeId } = await admin.call('GET', `${kind.path}/${id}`)
      await admin.call('PATCH', `${kind.path}/${id}`, { typeId, roleAttributes: random(2) === 0 ? ['safe'] : [] })
    }
  }
}

async function oneConfig(admin: Admin, seed: number): Promise<string> {
  const types = Object.values(await admin.call('GET', '/config-types?filter=name=%22host.v1%22'))
  const configTypeId: unknown = Reflect.get(Object(types[0]), 'id')
  return admin.create('/configs', {
    name: `of the changes ${seed}`,
    configTypeId,
    data: { protocol: 'tcp', address: '127.0.0.1', port: 80 },
  })
}

function some(random: (below: number) => number, words: readonly string[]): readonly string[] {
  return words.filter(() => random(3) === 0)
}

function roles(random: (below: number) => number, ids: readonly string[] = []): readonly string[] {
  const id = ids[random(ids.length)]
  const role = random(8) === 0 ? '#all' : `#${ROLES[random(ROLES.length)]}`
  return id === undefined || random(2) === 0 ? [role] : [role === '#all' ? '#a' : role, `@${id}`]
}
