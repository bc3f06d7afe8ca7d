import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManagementClient } from 'portcullis/client'
import { httpsFetch, openPkiDirectory } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endAll, portcullis, portIn, type Running } from './cli-process.ts'

const admin = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }

let cwd: string
let service: Running
let url: string

const run = (args: readonly string[], variables: Readonly<Record<string, string>> = admin) =>
  portcullis(['explain', ...args], { cwd, variables }).ended

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-explain-'))
  service = portcullis(['serve', '--listen', '127.0.0.1:0', '--pki', 'pki'], { cwd, variables: admin })
  url = `https://127.0.0.1:${portIn(await service.ready)}`
})
afterAll(async () => {
  service.kill('SIGTERM')
  await service.ended
  endAll()
  await rm(cwd, { recursive: true, maxRetries: 10 })
})

describe('portcullis explain', () => {
  it('prints why in sentences', async () => {
    const args = ['--url', url, '--ca', 'pki/ca.pem', '--identity', 'nobody', '--service', 'web', '--type', 'bind']
    const { code, stdout, stderr } = await run(args)
    expect(stderr).toBe('')
    expect(stdout).toBe(
      [
        "'nobody' may not bind 'web': there is no such identity.",
        "Check the identity: none has the id or name 'nobody'.",
        '',
      ].join('\n'),
    )
    expect(code).toBe(2)
  })

  it.each([
    ['without --ca', [], 'name its trust bundle with --ca'],
    ['with that of another network', ['--ca', 'other/ca.pem'], 'other/ca.pem is not its trust bundle'],
  ])('trusts no certificate %s', async (_what, ca, advice) => {
    const request = { hosts: ['localhost'], trustDomain: 'other.example', now: Date.now(), serverKey: 'P-256' } as const
    await openPkiDirectory(join(cwd, 'other'), request)
    const { code, stdout, stderr } = await run(['--url', url, '--identity', 'a', '--service', 'b', ...ca])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`portcullis: the controller's certificate is not trusted: ${advice}`)
    expect(stderr).not.toContain(admin.PORTCULLIS_ADMIN_PASSWORD)
  })

  it.each([
    ['two words', ['laptop', 'payroll'], 'such as: portcullis explain laptop dial payroll'],
    ['another word', ['laptop', 'open', 'payroll'], "the second word takes dial or bind, not 'open'"],
    ['a slip', ['laptop', 'dail', 'payroll'], "the second word takes dial or bind, not 'dail' (did you mean 'dial'?)"],
    [
      'a storage and a controller',
      ['a', 'dial', 'b', '--storage', 'sqlite:x', '--url', 'https://a:1'],
      '--storage excludes --url',
    ],
    ['no identity', ['--url', 'https://a:1', '--service', 'b'], 'explain needs --identity'],
    ['no service', ['--url', 'https://a:1', '--identity', 'a'], 'explain needs --service'],
    ['plain HTTP', ['--url', 'http://a:1', '--identity', 'a', '--service', 'b'], '--url takes https://HOST:PORT'],
    ['another type', ['--url', 'https://a:1', '--identity', 'a', '--service', 'b', '--type', 'x'], '--type takes dial'],
    ['another option', ['--listen', 'x'], "Unknown option '--listen'"],
    ['a file that is not there', ['--url', 'https://a:1', '--identity', 'a', '--service', 'b', '--ca', 'x'], '--ca'],
  ])('%s is told with exit code 2', async (_what, args, message) => {
    const { code, stderr } = await run(args)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  it('no credentials are told with exit code 2', async () => {
    const variables = { PORTCULLIS_CONFIG_DIR: join(cwd, 'nobody') }
    const { code, stderr } = await run(['--url', url, '--identity', 'a', '--service', 'b'], variables)
    expect(stderr).toContain('PORTCULLIS_ADMIN_USERNAME')
    expect(code).toBe(2)
  })
})

describe('portcullis explain laptop dial payroll, beside the folder of a controller', () => {
  beforeAll(async () => {
    const variables = { ...admin, PORTCULLIS_CONFIG_DIR: join(cwd, 'config') }
    const login = ['login', url, '--ca', 'pki/ca.pem', '--username', 'keeper', '--password-stdin']
    const loggedIn = await portcullis(login, { cwd, variables, input: 'a-secret-of-mine' }).ended
    expect(loggedIn).toMatchObject({ code: 0, stderr: '' })
    const client = createManagementClient({
      baseUrl: url,
      fetch: httpsFetch({ ca: await readFile(join(cwd, 'pki/ca.pem'), 'utf8') }),
      login: async () => JSON.parse(await readFile(join(cwd, 'config/profiles/default.json'), 'utf8')).token,
    })
    await client.call('POST /identities', { body: { name: 'laptop', type: 'Device', isAdmin: false } })
    await client.call('POST /services', { body: { name: 'payroll', encryptionRequired: true } })
    const everybody = { identityRoles: ['#all'], serviceRoles: ['#all'] }
    const policy = { name: 'all', type: 'Dial' as const, semantic: 'AnyOf' as const, ...everybody }
    await client.call('POST /service-policies', { body: policy })
    await client.call('POST /edge-routers', { body: { name: 'gate' } })
    const gate = { name: 'all', semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'] }
    await client.call('POST /edge-router-policies', { body: { ...gate, identityRoles: ['#all'] } })
    await client.call('POST /service-edge-router-policies', { body: { ...gate, serviceRoles: ['#all'] } })
  })

  it('needs neither address nor login: it reads the storage, while it is served', async () => {
    const { code, stdout, stderr } = await run(['laptop', 'dial', 'payroll'], {})
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^'laptop' may dial 'payroll'/)
    expect((await run(['laptop', 'bind', 'payroll'], {})).code).toBe(3)
  })

  it('tells a name that nobody has apart from a denial: exit code 2', async () => {
    expect(await run(['lap-top', 'dial', 'payroll'], {})).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('no such identity'),
    })
    expect(await run(['laptop', 'dial', 'pay-roll', '--json'], {})).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('service-unknown'),
    })
  })

  it('answers alike from the storage, as JSON, and from the controller by the login', async () => {
    const local = await run(['laptop', 'dial', 'payroll', '--json'], {})
    const variables = { PORTCULLIS_CONFIG_DIR: join(cwd, 'config') }
    const remote = await run(['laptop', 'dial', 'payroll', '--json', '--profile', 'default'], variables)
    expect(JSON.parse(local.stdout)).toMatchObject({ allowed: true, reason: JSON.parse(remote.stdout).reason })
    expect([local.code, remote.code]).toEqual([0, 0])
  })

  it('says by the controller whether it works now, which a storage does not know', async () => {
    const variables = { PORTCULLIS_CONFIG_DIR: join(cwd, 'config') }
    const remote = await run(['laptop', 'dial', 'payroll', '--profile', 'default'], variables)
    expect(remote.stdout).toContain("\nIt does not work now: their common edge routers are offline ('gate').\n")
    const local = await run(['laptop', 'dial', 'payroll', '--json'], {})
    expect(JSON.parse(local.stdout)).toMatchObject({ allowed: true, wire: null })
  })

  it('keeps logins for their owner alone, uses none that others may read, and forgets them', async () => {
    const variables = { PORTCULLIS_CONFIG_DIR: join(cwd, 'config') }
    const file = join(cwd, 'config/profiles/default.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(cwd, 'config'))).mode & 0o777).toBe(0o700)
    expect(await readFile(file, 'utf8')).not.toContain('a-secret-of-mine')
    const listed = await portcullis(['profiles', '--json'], { cwd, variables }).ended
    expect(JSON.parse(listed.stdout)).toEqual([{ name: 'default', url, username: 'keeper' }])
    await chmod(file, 0o644)
    const refused = await run(['laptop', 'dial', 'payroll', '--profile', 'default'], variables)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is open to other users')])
    await chmod(file, 0o600)
    expect((await portcullis(['logout'], { cwd, variables }).ended).stdout).toBe(`logged out of ${url}\n`)
    const gone = await run(['laptop', 'dial', 'payroll', '--profile', 'default'], variables)
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('portcullis login --profile default')])
  })
})
