import fc from 'fast-check'
import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, foreignClient, MANAGEMENT, passwordLogin, read } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { ALL_ROWS } from '../support/api-rows.ts'
import { mount } from '../support/mount.ts'
import { apisOf, login, person } from '../support/people.ts'
import { accessRule } from './access-rules.ts'

const THIRTY_MINUTES_MS = 30 * 60_000

/** Headers that prove nothing, each with how it comes to be. */
const WORTHLESS: readonly [string, (mounted: MountedController) => Promise<Record<string, string>>][] = [
  ['nothing', async () => ({})],
  ['an empty token', async () => ({ 'zt-session': '' })],
  ['a malformed token', async () => ({ 'zt-session': '../../admin' })],
  ['a token that begins like a JWT', async () => ({ 'zt-session': 'eyJ', authorization: 'Bearer eyJ' })],
  [
    'an unsigned JWT',
    async () => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      return { authorization: `Bearer ${part({ alg: 'none' })}.${part({ sub: 'admin', exp: 9e9 })}.` }
    },
  ],
  [
    'an expired session',
    async (mounted) => {
      const token = await passwordLogin(mounted, TEST_ADMIN)
      mounted.clock.advance(THIRTY_MINUTES_MS)
      return { 'zt-session': token }
    },
  ],
  [
    'a session that was ended',
    async (mounted) => {
      const { token, delete: remove } = await adminOf(mounted)
      expectDone(await remove('/current-api-session'))
      return { 'zt-session': token ?? '' }
    },
  ],
  [
    'the session of a deleted admin',
    async (mounted) => {
      const admin = await adminOf(mounted)
      const who = await person(mounted, admin, 'former', { isAdmin: true })
      const { token } = await apisOf(mounted, who)
      expectDone(await admin.delete(`/identities/${who.id}`))
      return { 'zt-session': token }
    },
  ],
  [
    'the session of another controller',
    async () => ({ 'zt-session': (await adminOf(await mount({ admin: TEST_ADMIN }))).token?.replace(/^./, 'f') ?? '' }),
  ],
]

describe('A1: every operation that is not open answers 401 to', () => {
  const closed = ALL_ROWS.filter(({ api, route }) => accessRule(api, route) !== 'open')

  it.each(WORTHLESS)('%s', async (_what, headersOf) => {
    const mounted = await mount()
    const headers = await headersOf(mounted)
    expect(closed.length).toBeGreaterThan(150)
    for (const { base, route } of closed) {
      const [method = '', template = ''] = route.split(' ')
      const path = template.replaceAll(/\{\w+\}/g, 'unknown')
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined
      const answer = await foreignClient(mounted, base).send(method, path, { body, headers })
      expect([answer.status, answer.body?.error.code], `${base} ${route}`).toEqual([401, 'UNAUTHORIZED'])
    }
  })
})

describe('A2: a path is judged as what it means', () => {
  /** One path of each kind of access rule. */
  const PATHS = [
    `${MANAGEMENT}/identities`,
    `${MANAGEMENT}/summary`,
    `${MANAGEMENT}/current-identity`,
    `${MANAGEMENT}/version`,
    `${CLIENT}/services`,
    `${CLIENT}/current-api-session`,
  ]

  it('in 10,000 spellings: let in as the plain spelling is, or not found', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const { token } = await apisOf(mounted, await person(mounted, admin, 'alice'))
    const callers = [undefined, token, admin.token]
    const statusOf = async (path: string, caller: string | undefined) =>
      (await foreignClient(mounted, '', caller).get(path)).status
    const plain = new Map<string, number>()
    for (const path of PATHS)
      for (const [index, caller] of callers.entries()) plain.set(`${index} ${path}`, await statusOf(path, caller))
    expect([...new Set(plain.values())].sort()).toEqual([200, 401])

    let understood = 0
    await fc.assert(
      fc.asyncProperty(spellings(PATHS), fc.nat(callers.length - 1), async ({ path, spelling }, index) => {
        const status = await statusOf(spelling, callers[index])
        if ([404, 405, 406].includes(status)) return
        expect(status, spelling).toBe(plain.get(`${index} ${path}`))
        understood += 1
      }),
      { numRuns: 10_000 },
    )
    expect(understood).toBeGreaterThan(1000)
  })
})

/** A path and another way to write it, equal or only alike. */
function spellings(paths: readonly string[]): fc.Arbitrary<{ readonly path: string; readonly spelling: string }> {
  const spelled = (path: string) =>
    fc
      .array(fc.tuple(fc.nat(path.length - 1), fc.nat(99)), { maxLength: 4 })
      .chain((places) =>
        fc
          .constantFrom('', '', '', '/', '//', '?x', '?x=1&y', '#x', ';x=1', '/.', '%00', '%20', '%2f')
          .map((end) => ({ path, spelling: `${respelled(path, places)}${end}` })),
      )
  return fc.constantFrom(...paths).chain(spelled)
}

function respelled(path: string, places: readonly (readonly [number, number])[]): string {
  const changes = new Map(places)
  return [...path].map((character, at) => variant(character, changes.get(at), at)).join('')
}

function variant(character: string, choice: number | undefined, at: number): string {
  if (choice === undefined) return character
  const hex = character.charCodeAt(0).toString(16)
  const ways = [`%${hex}`, `%${hex.toUpperCase()}`, `%25${hex}`, character.toUpperCase()]
  const separators = ['//', '/./', '/x/../', '\\', '%5c', '/%2e/', '/x/%2e%2e/', '/;/']
  // A request cannot begin with two slashes: that would name another host.
  const all = character === '/' && at > 0 ? [...ways, ...separators] : ways
  return at === 0 ? character : (all[choice % all.length] ?? character)
}

describe('A10: nobody removes', () => {
  it('the default admin', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const { identityId } = await read(admin, '/current-api-session')
    const other = await apisOf(mounted, await person(mounted, admin, 'other', { isAdmin: true }))
    expectError(await other.management.delete(`/identities/${identityId}`), 'ENTITY_CAN_NOT_BE_DELETED')
    expectError(await admin.delete(`/identities/${identityId}`), 'ENTITY_CAN_NOT_BE_DELETED')
    expect((await login(mounted)).status).toBe(200)
  })

  it.each([
    ['an admin', { isAdmin: true }],
    ['a delegate', { permissions: ['identity'] }],
  ])('the identity that is calling: %s', async (_who, change) => {
    const mounted = await mount()
    const who = await person(mounted, await adminOf(mounted), 'alice', change)
    const { management } = await apisOf(mounted, who)
    expectError(await management.delete(`/identities/${who.id}`), 'CAN_NOT_DELETE_REFERENCED_ENTITY')
    expect((await management.get('/current-identity')).status).toBe(200)
    expect((await login(mounted, who)).status).toBe(200)
  })
})
