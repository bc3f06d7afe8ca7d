import { describe, expect, it } from 'vitest'
import { dump, expectDone, expectFieldError } from './errors.ts'
import { adminOf, CLIENT, create, foreignClient, MANAGEMENT, read } from './foreign-client.ts'
import { KINDS } from './kinds.ts'
import type { Mount } from './mount.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const MIB = 1_048_576

/** Bodies that no create request may have, whatever it creates; `S` stands for a string. */
const BAD_BODIES: readonly [string, string, readonly string[]][] = [
  ['no JSON', '{', ['COULD_NOT_PARSE_BODY']],
  ['two documents', '{}{}', ['COULD_NOT_PARSE_BODY']],
  ['a trailing comma', '{"name":"x",}', ['COULD_NOT_PARSE_BODY']],
  ['single quotes', "{'name':'x'}", ['COULD_NOT_PARSE_BODY']],
  ['NaN', '{"name":"x","cost":NaN}', ['COULD_NOT_PARSE_BODY']],
  ['nothing', '', ['COULD_NOT_VALIDATE']],
  ['blanks', ' \n ', ['COULD_NOT_VALIDATE']],
  ['null', 'null', ['COULD_NOT_VALIDATE']],
  ['an empty object', '{}', ['COULD_NOT_VALIDATE']],
  ['a list', '[]', ['COULD_NOT_VALIDATE', 'COULD_NOT_PARSE_BODY']],
  ['a list of objects', '[{"name":"x"}]', ['COULD_NOT_VALIDATE', 'COULD_NOT_PARSE_BODY']],
  ['a string', '"x"', ['COULD_NOT_VALIDATE', 'COULD_NOT_PARSE_BODY']],
  ['a number', '7', ['COULD_NOT_VALIDATE', 'COULD_NOT_PARSE_BODY']],
  ['true', 'true', ['COULD_NOT_VALIDATE', 'COULD_NOT_PARSE_BODY']],
  [
    'a depth bomb',
    `${'{"tags":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    ['COULD_NOT_VALIDATE', 'COULD_NOT_PARSE_BODY'],
  ],
  [
    'a list bomb',
    `{"name":"x","tags":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
    ['COULD_NOT_VALIDATE', 'COULD_NOT_PARSE_BODY'],
  ],
  [
    'very many members',
    `{${Array.from({ length: 60_000 }, (_, index) => `"m${index}":0`).join()}}`,
    ['COULD_NOT_VALIDATE'],
  ],
  ['__proto__', '{"name":"x","__proto__":{"isAdmin":true}}', ['COULD_NOT_VALIDATE']],
  ['__proto__ inside of tags', '{"name":"x","tags":{"__proto__":{"polluted":true}}}', ['COULD_NOT_VALIDATE']],
]

/** Requests that are refused, of which nothing is left. */
export function describeBadInput(open: Mount): void {
  it.each(BAD_BODIES)('a body that is %s is refused by every create, PUT and PATCH', async (what, body, codes) => {
    const admin = await adminOf(await open())
    const ids = new Map<string, string>()
    for (const { path, minimal } of KINDS) ids.set(path, await create(admin, path, { name: 'one', ...minimal }))
    const before = await dump(admin)
    for (const { path } of KINDS) {
      const at = `${path}/${ids.get(path)}`
      // A PATCH may well be empty.
      const patches = what === 'an empty object' ? [] : [await admin.send('PATCH', at, { body, headers: JSON_TYPE })]
      const post = await admin.send('POST', path, { body, headers: JSON_TYPE })
      const put = await admin.send('PUT', at, { body, headers: JSON_TYPE })
      for (const answer of [post, put, ...patches]) {
        expect(answer.status, `${path}: ${answer.text}`).toBe(400)
        expect(codes, answer.text).toContain(answer.body.error.code)
        expect(answer.text.length).toBeLessThan(2000)
      }
    }
    expect(await dump(admin)).toBe(before)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined()
  })

  it('names that every object has are names like others', async () => {
    const admin = await adminOf(await open())
    const tags = {
      constructor: 'a',
      prototype: 'b',
      hasOwnProperty: true,
      toString: null,
      '': 'empty',
      'a.b': 'dotted',
    }
    const appData = { constructor: { prototype: { polluted: true } } }
    const identity = { name: 'constructor', type: 'User', isAdmin: false, tags, appData }
    const id = await create(admin, '/identities', identity)
    expect(await read(admin, `/identities/${id}`)).toMatchObject({ name: 'constructor', tags, appData })
    expectDone(await admin.patch(`/identities/${id}`, { tags: { valueOf: 'x' } }))
    expect((await read(admin, `/identities/${id}`)).tags).toEqual({ valueOf: 'x' })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('text is kept as it was sent', async () => {
    const admin = await adminOf(await open())
    for (const name of [
      'x\r\nset-cookie: a=1',
      '\u202Eevil',
      '\u001B[31mred',
      '名前 \u{1F600}',
      ' padded ',
      "'; DROP TABLE x; --",
    ]) {
      const id = await create(admin, '/services', { name, encryptionRequired: true })
      expect((await read(admin, `/services/${id}`)).name).toBe(name)
      const filter = encodeURIComponent(`name = "${name.replaceAll(/["\\]/g, '')}"`)
      expect((await admin.get(`/services?filter=${filter}`)).status).toBeLessThan(500)
    }
  })

  it.each(['\u0000', 'a\u0000b', '\uD800', 'x\uDFFFy'])('text that no store can keep (%j) is refused', async (text) => {
    const admin = await adminOf(await open())
    const before = await dump(admin)
    for (const [field, body] of [
      ['name', { name: text }],
      ['tags.key', { name: 'x', tags: { key: text } }],
      ['roleAttributes.1', { name: 'x', roleAttributes: ['a', text] }],
      ['tags', { name: 'x', tags: { [text]: 'key' } }],
    ] as const) {
      expectFieldError(await admin.post('/edge-routers', body), field)
    }
    expect(await dump(admin)).toBe(before)
  })

  describe('a body over one MiB', () => {
    const tooLarge = { code: 'REQUEST_ENTITY_TOO_LARGE', message: expect.any(String), cause: null }

    it.each([
      ['without a session', false],
      ['with a session', true],
    ])('%s is refused before anything else is looked at', async (_what, withSession) => {
      const mounted = await open()
      const admin = await adminOf(mounted)
      const before = await dump(admin)
      const client = withSession ? admin : foreignClient(mounted, MANAGEMENT)
      const answer = await client.send('POST', '/identities', {
        body: 'x'.repeat(MIB + 1),
        headers: { 'content-type': 'text/html' },
      })
      expect(answer.status).toBe(413)
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(answer.body).toEqual(tooLarge)
      expect(await dump(admin)).toBe(before)
    })

    it('is refused where nothing listens, too', async () => {
      const mounted = await open()
      const sent = { body: 'x'.repeat(MIB + 1), headers: JSON_TYPE }
      for (const path of ['/nowhere', '/authenticate?method=password', '/enroll?method=ott']) {
        expect((await foreignClient(mounted, CLIENT).send('POST', path, sent)).body).toEqual(tooLarge)
      }
    })

    it('is one byte more than what is taken', async () => {
      const admin = await adminOf(await open())
      const body = (bytes: number) => {
        const entity = '{"name":"x","encryptionRequired":true}'
        return `${entity}${' '.repeat(bytes - entity.length)}`
      }
      expect((await admin.send('POST', '/services', { body: body(MIB + 1), headers: JSON_TYPE })).status).toBe(413)
      expect((await admin.send('POST', '/services', { body: body(MIB), headers: JSON_TYPE })).status).toBe(201)
    })
  })

  it.each([
    ['/posture-response', [], 400],
    ['/posture-response', {}, 400],
    ['/posture-response', { typeId: 'DOMAIN', domain: 'x' }, 400],
    ['/posture-response', { id: 'x', typeId: 'DOMAIN' }, 400],
    ['/posture-response', { id: 'x', typeId: 'DOMAIN', domain: 7 }, 400],
    ['/posture-response', { id: 'x', typeId: 'MAC', macAddresses: 'x' }, 400],
    ['/posture-response', { id: 'x', typeId: 'OS', type: 'Linux' }, 400],
    ['/posture-response', { id: 'x', typeId: 'PROCESS', isRunning: 'yes' }, 400],
    ['/posture-response-bulk', {}, 400],
    ['/posture-response-bulk', [7], 400],
    ['/posture-response-bulk', [{ id: 'x', typeId: 'DOMAIN', domain: 'x' }, {}], 400],
    ['/sessions', [], 400],
    ['/sessions', 'x', 400],
    ['/sessions', { serviceId: { id: 'x' } }, 400],
  ])('%s does not take %j', async (path, body, status) => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    const client = foreignClient(mounted, CLIENT, admin.token)
    const answer = await client.send('POST', path, { body: JSON.stringify(body), headers: JSON_TYPE })
    expect(answer.status, answer.text).toBe(status)
    expect(['COULD_NOT_VALIDATE', 'COULD_NOT_PARSE_BODY']).toContain(answer.body.error.code)
    const { id } = (await admin.get('/identities')).body.data[0]
    const { domain, processes } = await read(admin, `/identities/${id}/posture-data`)
    expect([domain.domain, processes]).toEqual([null, []])
  })
}
