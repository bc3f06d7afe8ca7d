import { describe, expect, it } from 'vitest'
import { COLLECTIONS, expectError, expectFieldError } from './errors.ts'
import { adminOf, create, type ForeignClient } from './foreign-client.ts'
import type { Mount } from './mount.ts'

/** The symbols that each collection lets a filter name, at the least. */
const SYMBOLS: Readonly<Record<string, readonly string[]>> = {
  '/identities': ['name', 'externalId', 'type', 'authPolicyId', 'isAdmin', 'isDefaultAdmin', 'roleAttributes'],
  '/services': ['name', 'terminatorStrategy', 'roleAttributes', 'configs'],
  '/edge-routers': [
    'name',
    'fingerprint',
    'cost',
    'noTraversal',
    'disabled',
    'roleAttributes',
    'isVerified',
    'isTunnelerEnabled',
  ],
  '/service-policies': ['name', 'type', 'semantic', 'identityRoles', 'serviceRoles', 'postureCheckRoles'],
  '/edge-router-policies': ['name', 'semantic', 'identityRoles', 'edgeRouterRoles'],
  '/service-edge-router-policies': ['name', 'semantic', 'serviceRoles', 'edgeRouterRoles'],
  '/posture-checks': ['name', 'typeId', 'promptOnUnlock', 'promptOnWake', 'roleAttributes'],
}

/** Query, names of the services in order, limit, offset and total of the page. */
type Page = readonly [string, string, number, number, number]

const PAGES: readonly Page[] = [
  ['sort=name', 'a b c d e f g h i j', 10, 0, 12],
  ['sort=name&limit=3', 'a b c', 3, 0, 12],
  ['sort=name&limit=3&offset=10', 'k l', 3, 10, 12],
  ['sort=name&offset=12', '', 10, 12, 12],
  ['sort=name&offset=1000000000', '', 10, 100_000, 12],
  ['sort=name&limit=0&offset=-5', 'a b c d e f g h i j', 10, 0, 12],
  ['sort=name&limit=501', 'a b c d e f g h i j k l', 500, 0, 12],
  ['sort=name&limit=-1', 'a b c d e f g h i j k l', 500, 0, 12],
  ['sort=name desc&limit=2', 'l k', 2, 0, 12],
  ['sort=name  asc, id&limit=2', 'a b', 2, 0, 12],
  ['sort=maxIdleTimeMillis desc,name&limit=3', 'l k j', 3, 0, 12],
  ['filter=', 'a b c d e f g h i j', 10, 0, 12],
  ['filter=true sort by name limit none', 'a b c d e f g h i j k l', 500, 0, 12],
  ['filter=limit none', 'a b c d e f g h i j k l', 500, 0, 12],
  ['filter=sort by name desc skip 1 limit 2', 'k j', 2, 1, 12],
  ['filter=skip 10 limit 5', 'k l', 5, 10, 12],
  ['filter=limit 2&limit=7&offset=1', 'b c', 2, 1, 12],
  ['filter=sort by name desc&sort=name&limit=1', 'l', 1, 0, 12],
  ['filter=name="c"', 'c', 10, 0, 1],
  ['filter=name="C"', '', 10, 0, 0],
  ['filter=name in ["a", "z", "c"] sort by name', 'a c', 10, 0, 2],
  ['filter=name icontains "B" or name contains "l"', 'b l', 10, 0, 2],
  ['filter=not name > "c" sort by name', 'a b c', 10, 0, 3],
  ['filter=maxIdleTimeMillis between 3 and 5 sort by name', 'd e', 10, 0, 2],
  ['filter=anyOf(roleAttributes) = "even" sort by name limit 2', 'a c', 2, 0, 6],
  ['filter=isEmpty(roleAttributes) sort by name limit 1', 'b', 1, 0, 6],
  ['filter=count(roleAttributes) = 2 limit 1', 'a', 1, 0, 6],
  ['filter=tags.letter = "d"', 'd', 10, 0, 1],
  ['filter=name > 5 and not tags.letter limit 1', 'a', 1, 0, 12],
  ['filter=tags.missing = null limit 1', 'a', 1, 0, 12],
  ['filter=createdAt > datetime(2020-01-01T00:00:00Z) limit 1', 'a', 1, 0, 12],
  ['filter=name = "a" and name = "x" or name = "a"', 'a', 10, 0, 1],
]

const BAD_FILTERS: readonly [string, string][] = [
  ['name = "unterminated', ''],
  ['name == "a"', ''],
  ["name = 'a'", ''],
  ['(name = "a"', ''],
  ['name = "a" extra', ''],
  ['unknown = "a"', "unknown symbol 'unknown'"],
  ['__proto__ = "a"', ''],
  ['constructor = "a"', "unknown symbol 'constructor'"],
  ['roleAttributes = "a"', "symbol 'roleAttributes' is a set symbol"],
  ['name = true', 'operation'],
  ['createdAt = "2020-01-01T00:00:00Z"', 'operation'],
  ['name in []', ''],
  ['limit 1.5', ''],
  ['sort by unknown', "unknown symbol 'unknown'"],
  [`${'('.repeat(100)}true${')'.repeat(100)}`, ''],
  [`name = "${'a'.repeat(5000)}"`, ''],
]

/** Wire 5: paging, order and filters of every list. */
export function describeLists(open: Mount): void {
  const twelve = async (): Promise<ForeignClient> => {
    const admin = await adminOf(await open())
    for (const [index, name] of [...'abcdefghijkl'].entries()) {
      const roleAttributes = index % 2 === 0 ? ['even', 'number'] : []
      const body = { name, encryptionRequired: true, maxIdleTimeMillis: index, roleAttributes, tags: { letter: name } }
      await create(admin, '/services', body)
    }
    return admin
  }

  it.each(PAGES)('?%s', async (query, names, limit, offset, totalCount) => {
    const admin = await twelve()
    const { status, text, body } = await admin.get(`/services?${encode(query)}`)
    expect(status, text).toBe(200)
    const found: string[] = body.data.map(({ name }: { name: string }) => name)
    expect(found.join(' ')).toBe(names)
    expect(body.meta.pagination).toEqual({ limit, offset, totalCount })
  })

  it('sorts text by code point, and unsorted entities by id', async () => {
    const admin = await adminOf(await open())
    const unsorted = ['b', '\u{1F600}', 'ä', 'B', 'a', '\uFFFD', 'aa', '']
    for (const name of unsorted) await create(admin, '/services', { name: `x${name}`, encryptionRequired: true })
    const list = async (query: string) => (await admin.get(`/services?limit=500&${encode(query)}`)).body.data
    const names = (await list('sort=name')).map(({ name }: { name: string }) => name)
    expect(names).toEqual(['x', 'xB', 'xa', 'xaa', 'xb', 'xä', 'x\uFFFD', 'x\u{1F600}'])
    const ids = (await list('')).map(({ id }: { id: string }) => id)
    expect(ids).toEqual([...ids].sort())
  })

  it.each(BAD_FILTERS)('the filter %s is refused', async (filter, message) => {
    const admin = await adminOf(await open())
    const answer = await admin.get(`/services?${encode(`filter=${filter}`)}`)
    expectError(answer, 'INVALID_FILTER', { code: 'UNHANDLED', message: expect.stringContaining(message) })
  })

  it.each(['unknown', 'name up', 'roleAttributes', 'tags', 'name,', ',', '1'])(
    'the order %s is refused',
    async (sort) => {
      const admin = await adminOf(await open())
      const answer = await admin.get(`/services?${encode(`sort=${sort}`)}`)
      expectError(answer, 'INVALID_SORT_IDENTIFIER', { code: 'UNHANDLED' })
    },
  )

  it.each([
    ['limit', 'ten'],
    ['limit', '1.5'],
    ['limit', '1e3'],
    ['limit', '99999999999999999999'],
    ['offset', '0x10'],
    ['offset', ' '],
  ])('%s=%s is no integer', async (name, text) => {
    const admin = await adminOf(await open())
    expectFieldError(await admin.get(`/services?${encode(`${name}=${text}`)}`), name, `could not parse ${name}`)
  })

  describe.each(COLLECTIONS)('%s', (path) => {
    it('is an empty array with its meta when nothing is there', async () => {
      const admin = await adminOf(await open())
      const { status, headers, body } = await admin.get(`${path}?filter=name="nothing"`)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/json')
      expect(body).toEqual({
        data: [],
        meta: {
          apiEnrollmentVersion: '0.0.1',
          apiVersion: '0.0.1',
          filterableFields: expect.any(Array),
          pagination: { limit: 10, offset: 0, totalCount: 0 },
        },
      })
    })

    it('says what a filter may name, and means it', async () => {
      const admin = await adminOf(await open())
      const { filterableFields } = (await admin.get(path)).body.meta
      const expected = ['id', 'createdAt', 'updatedAt', 'tags', ...(SYMBOLS[path] ?? [])]
      expect(filterableFields).toEqual(expect.arrayContaining(expected))
      for (const symbol of filterableFields) {
        const named = ['ctrlChanListeners', 'tags'].includes(symbol) ? `${symbol}.key` : symbol
        const plain = await admin.get(`${path}?${encode(`filter=${named} = null`)}`)
        const set = await admin.get(`${path}?${encode(`filter=anyOf(${named}) = "x"`)}`)
        expect([plain.status, set.status].sort(), symbol).toEqual([200, 400])
      }
    })

    it('does not let a filter name what is hidden', async () => {
      const admin = await adminOf(await open())
      for (const symbol of ['passwordHash', 'tokenDigest', 'enrollmentToken', 'jwt', 'revision', 'certPem']) {
        expectError(await admin.get(`${path}?${encode(`filter=${symbol} = "x"`)}`), 'INVALID_FILTER')
      }
    })
  })
}

function encode(query: string): string {
  return query
    .split('&')
    .map((part) => part.replace(/=(.*)$/s, (_, value: string) => `=${encodeURIComponent(value)}`))
    .join('&')
}
