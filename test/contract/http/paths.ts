import fc from 'fast-check'
import { expect, it } from 'vitest'
import { expectError } from './errors.ts'
import { adminOf, CLIENT, foreignClient, MANAGEMENT, read } from './foreign-client.ts'
import type { Mount } from './mount.ts'
import { enrolled } from './scenario.ts'

/** One normalisation of the path, and the same decision for every spelling. */
export function describePaths(open: Mount): void {
  it.each([
    '/garbage',
    `${CLIENT}/garbage`,
    `${MANAGEMENT}/garbage`,
    `${MANAGEMENT}/identities/x/garbage`,
    '/fabric/v1',
  ])('a path that nothing answers (%s) is not found', async (path) => {
    const answer = await foreignClient(await open(), '').get(path)
    expectError(answer, 'NOT_FOUND', { code: 'UNHANDLED', message: expect.stringContaining('was not found') })
  })

  it.each([
    ['DELETE', '/version'],
    ['POST', `${MANAGEMENT}/services/x`],
    ['PUT', `${CLIENT}/sessions`],
    ['OPTIONS', `${CLIENT}/services`],
    ['GET', '/authenticate'],
    ['POST', `${CLIENT}/services/x`],
  ])('%s %s is a verb that the path does not have', async (method, path) => {
    const answer = await foreignClient(await open(), '').send(method, path)
    const message = expect.stringMatching(new RegExp(`^method ${method} is not allowed, but \\[.+\\] are$`))
    expectError(answer, 'METHOD_NOT_ALLOWED', { code: 'UNHANDLED', message })
  })

  it('HEAD is a verb that no path has', async () => {
    expect((await foreignClient(await open(), '').send('HEAD', '/version')).status).toBe(405)
  })

  it('an override of the method in a header is not heard', async () => {
    const mounted = await open()
    const headers = { 'x-http-method-override': 'DELETE', 'zt-session': (await adminOf(mounted)).token ?? '' }
    const { status } = await foreignClient(mounted, CLIENT).send('GET', '/current-api-session', { headers })
    expect(status).toBe(200)
    expect((await foreignClient(mounted, CLIENT, headers['zt-session']).get('/current-api-session')).status).toBe(200)
  })

  it.each([
    `${MANAGEMENT}/identities/`,
    `${MANAGEMENT}//identities`,
    `//edge//management//v1//identities`,
    `${MANAGEMENT}/services/../identities`,
    `${CLIENT}/../../management/v1/identities`,
  ])('%s is the list of identities, for who may see it', async (path) => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    const somebody = await enrolled(mounted, admin, { name: 'somebody' })
    const statusWith = async (token?: string) => (await foreignClient(mounted, '', token).get(path)).status
    expect(await statusWith(admin.token)).toBe(200)
    expect(await statusWith(somebody.api.token)).toBe(401)
    expect(await statusWith()).toBe(401)
  })

  it('an id is decoded once', async () => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    const { data } = (await admin.get('/identities')).body
    const [first] = data[0].id
    const spelled = `%${first.charCodeAt(0).toString(16)}${data[0].id.slice(1)}`
    expect(await read(admin, `/identities/${spelled}`)).toMatchObject({ id: data[0].id })
    const twice = spelled.replace('%', '%25')
    expectError(await admin.get(`/identities/${twice}`), 'NOT_FOUND')
    expectError(await admin.get('/identities/%zz'), 'NOT_FOUND')
  })

  it('no spelling of a protected path opens it to who may not see it', async () => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    const { api } = await enrolled(mounted, admin, { name: 'somebody' })
    const strangers = [foreignClient(mounted, ''), foreignClient(mounted, '', api.token)]
    const target = [...`${MANAGEMENT}/identities`.slice(1)]
    const spelling = fc
      .tuple(
        ...target.map((character) => fc.oneof({ weight: 12, arbitrary: fc.constant(character) }, variants(character))),
      )
      .chain((characters) =>
        fc.constantFrom('', '/', '?x', ';x=1', '/.', '%00', '%20').map((end) => `/${characters.join('')}${end}`),
      )
    await fc.assert(
      fc.asyncProperty(spelling, async (path) => {
        for (const stranger of strangers) {
          const { status, text } = await stranger.get(path)
          expect([400, 401, 404, 406], `${path}: ${text}`).toContain(status)
        }
        const { status, body } = await foreignClient(mounted, '', admin.token).get(path)
        if (status === 200) expect(body.meta.pagination.totalCount).toBe(2)
      }),
      { numRuns: 60 },
    )
  })
}

/** Other ways to write a character of a path, equal or confusable. */
function variants(character: string): fc.Arbitrary<string> {
  const hex = character.charCodeAt(0).toString(16)
  const spellings = [`%${hex}`, `%${hex.toUpperCase()}`, `%25${hex}`, character.toUpperCase()]
  return fc.constantFrom(...spellings, ...(character === '/' ? ['//', '/./', '/x/../', '\\', '%5c'] : []))
}
