import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endAll, portcullis, portIn, type Running } from './cli-process.ts'

const admin = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }

let cwd: string
let service: Running
let url: string

const run = async (...args: readonly string[]) => {
  const where = ['--url', url, '--ca', 'pki/ca.pem']
  const { code, stdout, stderr } = await portcullis([...args, ...where], { cwd, variables: admin }).ended
  expect([stderr, code]).toEqual(['', 0])
  return stdout
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-questions-'))
  service = portcullis(['serve', '--listen', '127.0.0.1:0', '--pki', 'pki'], { cwd, variables: admin })
  url = `https://127.0.0.1:${portIn(await service.ready)}`
  const fetch = httpsFetch({ ca: await readFile(join(cwd, 'pki/ca.pem'), 'utf8') })
  const query = { method: 'password' as const }
  const body = { username: 'keeper', password: 'a-secret-of-mine' }
  const { data } = await createManagementClient({ baseUrl: url, fetch }).call('POST /authenticate', { query, body })
  const management = createManagementClient({ baseUrl: url, fetch, token: data.token })
  for (const [name, roleAttributes] of [
    ['anna', ['berlin']],
    ['ben', ['berlin', 'finance']],
  ] as const) {
    const identity = { name, type: 'Device' as const, isAdmin: false, roleAttributes: [...roleAttributes] }
    await management.call('POST /identities', { body: identity })
  }
  await management.call('POST /services', {
    body: { name: 'payroll', encryptionRequired: true, roleAttributes: ['books'] },
  })
  const policy = { name: 'money', type: 'Dial' as const, semantic: 'AnyOf' as const }
  const roles = { identityRoles: ['#finance'], serviceRoles: ['#books'] }
  await management.call('POST /service-policies', { body: { ...policy, ...roles } })
})
afterAll(async () => {
  service.kill('SIGTERM')
  await service.ended
  endAll()
  await rm(cwd, { recursive: true, maxRetries: 10 })
})

const ASIDE = 'Posture and edge routers aside: portcullis explain IDENTITY dial SERVICE counts them.\n'

describe('the questions of an operator on the command line', () => {
  it('are answered in words', async () => {
    expect(await run('who', 'payroll')).toBe(
      `'payroll' may be dialed by 1 and bound by 0 identities by service policies.\n  ben: Dial by money\n${ASIDE}`,
    )
    expect(await run('reach', 'ben')).toBe(
      `'ben' may dial 1 service and bind no service by service policies.\n  payroll: Dial by money\n${ASIDE}`,
    )
    expect(await run('what-if', 'berlin', '#finance')).toBe(
      'With #finance everybody who has #berlin would gain 1 access.\n  + anna Dial payroll\n',
    )
    expect(await run('findings')).toMatch(/ {2}identities without services: .*anna/)
    const changes = await run('changes', '--access')
    expect(changes).toMatch(/keeper|Default Admin/)
    expect(changes).toMatch(/created service policies money\n(.*\n)*? {4}gained by it: ben Dial payroll/)
  })

  it('go on where something was made and deleted in that time', async () => {
    await run('services', 'create', '--name', 'gone')
    await run('services', 'delete', 'gone')
    const changes = await run('changes', '--access')
    expect(changes).toMatch(/created services gone\n(.*\n)*? {4}as of now: it is gone, and decides nothing any more\n/)
    expect(changes).toMatch(/deleted services gone\n/)
    expect(changes).toContain('gained by it: ben Dial payroll')
  })

  it('say where nobody has the role attribute', async () => {
    expect(await run('what-if', 'rome', 'finance')).toBe(
      'With #finance everybody who has #rome would gain no access.\nNo identity has #rome.\n',
    )
  })

  it('say how they are asked', async () => {
    const { code, stderr } = await portcullis(['who'], { cwd, variables: admin }).ended
    expect([code, stderr]).toEqual([2, expect.stringContaining('portcullis who payroll')])
  })
})
