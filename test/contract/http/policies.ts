import { describe, expect, it } from 'vitest'
import { dump, expectDone, expectFieldError } from './errors.ts'
import { adminOf, create, type ForeignClient, read } from './foreign-client.ts'
import type { Mount } from './mount.ts'

/** Policy, role list, the kind that the list selects, and the word of that kind in messages. */
const LISTS: readonly [string, string, string, string][] = [
  ['/service-policies', 'identityRoles', '/identities', 'identities'],
  ['/service-policies', 'serviceRoles', '/services', 'services'],
  ['/service-policies', 'postureCheckRoles', '/posture-checks', 'postureChecks'],
  ['/edge-router-policies', 'edgeRouterRoles', '/edge-routers', 'routers'],
  ['/edge-router-policies', 'identityRoles', '/identities', 'identities'],
  ['/service-edge-router-policies', 'edgeRouterRoles', '/edge-routers', 'routers'],
  ['/service-edge-router-policies', 'serviceRoles', '/services', 'services'],
]

const ENTITY: Readonly<Record<string, object>> = {
  '/identities': { type: 'User', isAdmin: false },
  '/services': { encryptionRequired: false },
  '/edge-routers': {},
  '/posture-checks': { typeId: 'DOMAIN', domains: ['corp'] },
}

const POLICY: Readonly<Record<string, object>> = {
  '/service-policies': { semantic: 'AnyOf', type: 'Dial' },
  '/edge-router-policies': { semantic: 'AnyOf' },
  '/service-edge-router-policies': { semantic: 'AnyOf' },
}

const PATCHED: Readonly<Record<string, object>> = { '/posture-checks': { typeId: 'DOMAIN' } }

/** Role lists and role attributes of policies. */
export function describePolicies(open: Mount): void {
  describe.each(LISTS)('%s: %s', (path, list, kind, storeName) => {
    const entity = (admin: ForeignClient, name: string) => create(admin, kind, { name, ...ENTITY[kind] })
    const policy = (roles: readonly string[], name = 'policy') => ({ name, ...POLICY[path], [list]: roles })

    it.each<[string, readonly string[], string, string]>([
      ['an entry without # or @', ['#a', 'plain', ''], 'role entries must prefixed with #', '[ plain]'],
      ['#all beside an attribute', ['#all', '#a'], 'if using #all, it should be the only role specified', '[#a #all]'],
      ['ids that do not exist', ['@y', '#a', '@x'], `no ${storeName} found with the given ids`, '[x y]'],
      ['a name instead of an id', ['@existing'], `no ${storeName} found with the given ids`, '[existing]'],
      ['nothing after the @', ['@'], `no ${storeName} found with the given ids`, '[]'],
    ])('refuses %s', async (_what, roles, reason, value) => {
      const admin = await adminOf(await open())
      await entity(admin, 'existing')
      const id = await create(admin, path, policy([]))
      const before = await dump(admin)
      const answers = [
        await admin.post(path, policy(roles, 'other')),
        await admin.put(`${path}/${id}`, policy(roles)),
        await admin.patch(`${path}/${id}`, { [list]: roles }),
      ]
      for (const answer of answers) {
        expectFieldError(answer, list, reason)
        expect(answer.body.error.cause.value).toBe(value)
      }
      expect(await dump(admin)).toBe(before)
    })

    it('is kept as a set and displayed with current names', async () => {
      const admin = await adminOf(await open())
      const [b, a] = [await entity(admin, 'bee'), await entity(admin, 'ant')]
      const id = await create(admin, path, policy([`@${b}`, '#z', `@${a}`, '#z', '#A']))
      const roles = ['#A', '#z', ...[`@${a}`, `@${b}`].sort()]
      expectDone(await admin.patch(`${kind}/${a}`, { ...PATCHED[kind], name: 'wasp' }))
      const names: Readonly<Record<string, string>> = { [`@${a}`]: '@wasp', [`@${b}`]: '@bee' }
      const shown = await read(admin, `${path}/${id}`)
      expect(shown[list]).toEqual(roles)
      expect(shown[`${list}Display`]).toEqual(roles.map((role) => ({ role, name: names[role] ?? role })))
      expect((await admin.get(`${path}?filter=${encodeURIComponent(`anyOf(${list}) = "#z"`)}`)).body.data).toEqual([
        shown,
      ])
    })

    it('forgets an entity that is deleted, without counting as changed', async () => {
      const mounted = await open()
      const admin = await adminOf(mounted)
      const [gone, stays] = [await entity(admin, 'gone'), await entity(admin, 'stays')]
      const both = await create(admin, path, policy([`@${gone}`, '#a', `@${stays}`], 'both'))
      const only = await create(admin, path, policy([`@${gone}`], 'only'))
      const before = await read(admin, `${path}/${both}`)
      mounted.clock.advance(1000)
      expectDone(await admin.delete(`${kind}/${gone}`))
      const after = await read(admin, `${path}/${both}`)
      expect(after).toMatchObject({ [list]: ['#a', `@${stays}`], updatedAt: before.updatedAt })
      expect(after[`${list}Display`].map(({ name }: { name: string }) => name)).toEqual(['#a', '@stays'])
      expect(await read(admin, `${path}/${only}`)).toMatchObject({ [list]: [], [`${list}Display`]: [] })
    })
  })

  it.each(['/identities', '/services', '/edge-routers'])('role attributes of %s have no mark', async (kind) => {
    const admin = await adminOf(await open())
    const id = await create(admin, kind, { name: 'one', ...ENTITY[kind], roleAttributes: ['all', 'with space', ''] })
    const before = await dump(admin)
    for (const [mark, attributes] of [
      ['#', ['a', '#b']],
      ['@', ['@a']],
    ] as const) {
      const reason = `role attributes may not be prefixed with ${mark}`
      const change = { name: 'two', ...ENTITY[kind], roleAttributes: attributes }
      expectFieldError(await admin.post(kind, change), 'roleAttributes', reason)
      expectFieldError(await admin.put(`${kind}/${id}`, change), 'roleAttributes', reason)
      expectFieldError(await admin.patch(`${kind}/${id}`, { roleAttributes: attributes }), 'roleAttributes', reason)
    }
    expect(await dump(admin)).toBe(before)
  })

  it.each([
    ['/service-policies', ['identities', 'posture-checks', 'services']],
    ['/edge-router-policies', ['edge-routers', 'identities']],
    ['/service-edge-router-policies', ['edge-routers', 'services']],
  ])('%s has links to what it selects', async (path, nested) => {
    const admin = await adminOf(await open())
    const id = await create(admin, path, { name: 'policy', ...POLICY[path] })
    const { _links } = await read(admin, `${path}/${id}`)
    const links = nested.map((name) => [name, { href: `.${path}/${id}/${name}` }])
    expect(_links).toEqual({ self: { href: `.${path}/${id}` }, ...Object.fromEntries(links) })
  })
}
