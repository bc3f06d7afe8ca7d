import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { CLIENT, foreignClient } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'

const CONSOLE = 'https://console.example'
const OTHER = 'https://evil.example'
const PREFLIGHT = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'zt-session' }

async function open(origins?: readonly string[]) {
  return foreignClient(await mount(origins === undefined ? {} : { cors: { origins } }), CLIENT)
}

function corsHeaders(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))
}

describe('cross-origin requests', () => {
  it.each([
    ['no option', undefined],
    ['no origins', []],
  ])('are not provided for with %s', async (_name, origins) => {
    const api = await open(origins)
    expect(corsHeaders((await api.send('GET', '/version', { headers: { origin: CONSOLE } })).headers)).toEqual({})
    const preflight = await api.send('OPTIONS', '/version', { headers: { origin: CONSOLE, ...PREFLIGHT } })
    expect(preflight.status).toBe(405)
    expect(corsHeaders(preflight.headers)).toEqual({})
  })

  it('of a listed origin are announced', async () => {
    const api = await open([CONSOLE])
    const answer = await api.send('OPTIONS', '/services', { headers: { origin: CONSOLE, ...PREFLIGHT } })
    expect(answer.status).toBe(200)
    expect(answer.text).toBe('')
    expect(corsHeaders(answer.headers)).toEqual({
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'content-type, accept, authorization, zt-session',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-origin': CONSOLE,
      'access-control-max-age': '600',
      vary: 'Origin',
    })
  })

  it.each([
    ['answers', '/version', 200],
    ['refusals', '/current-identity', 401],
  ])('of a listed origin may read %s', async (_what, path, status) => {
    const answer = await (await open([OTHER, CONSOLE])).send('GET', path, { headers: { origin: CONSOLE } })
    expect(answer.status).toBe(status)
    expect(corsHeaders(answer.headers)).toMatchObject({
      'access-control-allow-credentials': 'true',
      'access-control-allow-origin': CONSOLE,
      'access-control-expose-headers': expect.stringContaining('zt-session'),
      vary: 'Origin',
    })
  })

  it.each([
    OTHER,
    'null',
    'http://console.example',
    'https://console.example:8443',
    'https://console.example.evil.example',
    'HTTPS://CONSOLE.EXAMPLE',
    '*',
  ])('of %s are not provided for', async (origin) => {
    const api = await open([CONSOLE])
    const answer = await api.send('GET', '/version', { headers: { origin } })
    expect(corsHeaders(answer.headers)).toEqual({ vary: 'Origin' })
    const preflight = await api.send('OPTIONS', '/version', { headers: { origin, ...PREFLIGHT } })
    expect(preflight.status).toBe(405)
    expect(corsHeaders(preflight.headers)).toEqual({ vary: 'Origin' })
  })

  it('vary by origin even without one, and OPTIONS by itself is no verb', async () => {
    const api = await open([CONSOLE])
    expect(corsHeaders((await api.get('/version')).headers)).toEqual({ vary: 'Origin' })
    expect((await api.send('OPTIONS', '/version')).status).toBe(405)
    expect((await api.send('OPTIONS', '/version', { headers: { origin: CONSOLE } })).status).toBe(405)
  })

  it.each(['*', 'null', 'https://console.example/', 'https://*.example', 'console.example', ''])(
    'are not let in by "%s" as an origin',
    async (origin) => {
      await expect(createTestController({ cors: { origins: [origin] } })).rejects.toThrow('is no origin')
    },
  )
})
