import { createManagementClient } from 'portcullis/client'
import { describe, expect, it } from 'vitest'
import { PASSWORD as password, startExample, stopped } from './support/started.ts'

describe.each(['express', 'fastify', 'hono'])('examples/%s', (example) => {
  it('logs people in on a page of its own, serves the controller behind it, and stops when told', async () => {
    const { child, baseUrl, fetch } = await startExample(example)
    const management = createManagementClient({ baseUrl, fetch })
    const credentials = { query: { method: 'password' as const }, body: { username: 'admin', password } }
    const { token } = (await management.call('POST /authenticate', credentials)).data
    await management.withToken(token).call('POST /services', { body: { name: '<wiki>' } })

    const post = (path: string, form: Readonly<Record<string, string>>) =>
      fetch(new Request(baseUrl + path, { method: 'POST', body: new URLSearchParams(form) }))
    const get = (path: string, cookie = '') => fetch(new Request(baseUrl + path, { headers: { cookie } }))
    expect(await (await get('/login')).text()).toContain('name="password"')
    expect((await get('/services')).headers.get('location')).toBe('/login')
    const wrong = await post('/login', { username: 'admin', password: 'wrong' })
    expect(wrong.status).toBe(401)
    expect(await wrong.text()).toContain('is wrong')
    const welcome = await post('/login', { username: 'admin', password })
    expect(welcome.status).toBe(303)
    const [cookie = ''] = welcome.headers.getSetCookie()
    expect(cookie).toMatch(/HttpOnly.*Secure|Secure.*HttpOnly/)
    const services = await (await get('/services', cookie.split(';')[0])).text()
    expect(services).toContain('<li>&lt;wiki&gt;</li>')
    const expired = await get('/services', 'session=nobody')
    expect([expired.status, expired.headers.get('location')]).toEqual([303, '/login'])
    expect(await stopped(child)).toBe(0)
  })
})
