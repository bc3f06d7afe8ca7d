import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.ts'

const root = join(import.meta.dirname, '../..')
const password = 'a-long-password'

async function started(example: string) {
  const folder = await mkdtemp(join(tmpdir(), `${example}-example-`))
  const port = await freePort()
  const env = { ...process.env, FOLDER: folder, PORT: String(port), ADMIN_PASSWORD: password }
  const flags = ['--conditions=portcullis-source', join(root, 'examples', example, 'main.ts')]
  const child = spawn(process.execPath, flags, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  await once(child.stdout, 'data')
  const fetch = httpsFetch({ ca: await readFile(join(folder, 'pki/ca.pem'), 'utf8') })
  return { child, baseUrl: `https://localhost:${port}`, fetch }
}

async function stopped(child: ChildProcess): Promise<unknown> {
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  return code
}

describe.each(['express', 'hono'])('examples/%s', (example) => {
  it('logs people in on a page of its own, serves the controller behind it, and stops when told', async () => {
    const { child, baseUrl, fetch } = await started(example)
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
