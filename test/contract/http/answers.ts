import { describe, expect, it } from 'vitest'
import { expectError } from './errors.ts'
import { type Answer, adminOf, CLIENT, type ForeignClient, foreignClient, MANAGEMENT } from './foreign-client.ts'
import type { Mount } from './mount.ts'

const SERVICE = { name: 'service', encryptionRequired: true }

/** One request of every class of answer. */
const ANSWERS: readonly [string, number, (admin: ForeignClient, anybody: ForeignClient) => Promise<Answer>][] = [
  ['a list', 200, (admin) => admin.get('/services')],
  ['a new entity', 201, (admin) => admin.post('/services', SERVICE)],
  ['an invalid body', 400, (admin) => admin.post('/services', {})],
  ['a missing session', 401, (_admin, anybody) => anybody.get('/services')],
  ['an unknown id', 404, (admin) => admin.get('/services/unknown')],
  ['an unknown path', 404, (_admin, anybody) => anybody.get('/unknown')],
  ['a wrong verb', 405, (admin) => admin.delete('/services')],
  ['an unacceptable type', 406, (_admin, anybody) => anybody.send('GET', '/', { headers: { accept: 'text/html' } })],
  [
    'a wrong content type',
    415,
    (admin) => admin.send('POST', '/services', { body: 'x', headers: { 'content-type': 'text/html' } }),
  ],
]

/** The form that every answer has. */
export function describeAnswers(open: Mount): void {
  it.each(ANSWERS)('%s (%i) has the headers of every answer', async (_what, status, ask) => {
    const mounted = await open({ reportedVersion: 'v1.2.3' })
    const admin = await adminOf(mounted)
    const { headers, ...answer } = await ask(admin, foreignClient(mounted, MANAGEMENT))
    expect(answer.status, answer.text).toBe(status)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('server')).toBe('ziti-controller/v1.2.3')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const version = await foreignClient(mounted, CLIENT).get('/version')
    expect(headers.get('ziti-instance-id')).toMatch(/^\S{8,}$/)
    expect(headers.get('ziti-instance-id')).toBe(version.headers.get('ziti-instance-id'))
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('set-cookie')).toBeNull()
  })

  it.each(ANSWERS.filter(([, status]) => status >= 400))(
    '%s (%i) is an error in its envelope',
    async (_what, status, ask) => {
      const mounted = await open()
      const answer = await ask(await adminOf(mounted), foreignClient(mounted, MANAGEMENT))
      expectError(answer, answer.body.error.code, undefined, status)
      expect(answer.text).not.toContain('src/')
    },
  )

  it('names each failed request differently', async () => {
    const anybody = foreignClient(await open(), CLIENT)
    const answers = await Promise.all([1, 2, 3].map(() => anybody.get('/services')))
    expect(new Set(answers.map(({ body }) => body.error.requestId)).size).toBe(3)
  })

  describe('Accept', () => {
    it.each([
      'application/json',
      '*/*',
      'application/*',
      'text/html, application/json;q=0.5',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
    ])('%s is answered with JSON', async (accept) => {
      const { status, headers } = await foreignClient(await open(), CLIENT).send('GET', '/version', {
        headers: { accept },
      })
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/json')
    })

    it.each(['text/html', 'application/x-pem-file', 'application/jsonx'])('%s cannot be met', async (accept) => {
      const answer = await foreignClient(await open(), CLIENT).send('GET', '/version', { headers: { accept } })
      const reason = 'unsupported media type requested, only [application/json] are available'
      expectError(answer, 'COULD_NOT_VALIDATE', { field: 'Accept', reason, value: accept }, 406)
    })
  })

  describe('Content-Type', () => {
    it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])('%s is JSON', async (type) => {
      const admin = await adminOf(await open())
      const sent = { body: JSON.stringify(SERVICE), headers: { 'content-type': type } }
      expect((await admin.send('POST', '/services', sent)).status).toBe(201)
    })

    it.each([
      ['text/plain', 'text/plain'],
      ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded'],
      ['multipart/form-data; boundary=x', 'multipart/form-data; boundary=x'],
      [undefined, 'application/octet-stream'],
    ])('%s is not taken for a JSON body', async (type, shown) => {
      const admin = await adminOf(await open())
      const headers = type === undefined ? {} : { 'content-type': type }
      const answer = await admin.send('POST', '/services', { body: JSON.stringify(SERVICE), headers })
      const reason = expect.stringContaining(`unsupported media type "${shown}", only [application/json] are allowed`)
      expectError(answer, 'COULD_NOT_VALIDATE', { field: 'Content-Type', reason }, 415)
      expect((await admin.get('/services')).body.data).toEqual([])
    })

    it('of a compressed body is refused', async () => {
      const admin = await adminOf(await open())
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      const answer = await admin.send('POST', '/services', { body: JSON.stringify(SERVICE), headers })
      expectError(answer, 'COULD_NOT_VALIDATE', { field: 'Content-Encoding', value: 'gzip' }, 415)
    })
  })
}
