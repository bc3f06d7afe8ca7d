import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { httpsClient } from '../../support/https-fetch.ts'
import { endAll, portcullis, portIn, type Running } from './cli-process.ts'

const admin = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }
const other = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'another-secret' }
const DATABASE = '.portcullis/portcullis.sqlite'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-defaults-'))
})
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, maxRetries: 10 })
})

const serve = (args: readonly string[], variables: Readonly<Record<string, string>> = {}) =>
  portcullis(['serve', '--listen', '127.0.0.1:0', ...args], { cwd, variables })

async function clientOf(service: Running) {
  const port = portIn(await service.ready)
  return httpsClient({ port, ca: await readFile(join(cwd, '.portcullis/pki/ca.pem'), 'utf8') })
}

async function stop(service: Running) {
  service.kill('SIGTERM')
  return service.ended
}

async function loginStatus(service: Running, { PORTCULLIS_ADMIN_PASSWORD: password }: typeof admin) {
  const { fetch, close } = await clientOf(service)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ username: 'keeper', password })
  const { status } = await fetch('/edge/management/v1/authenticate?method=password', { method: 'POST', headers, body })
  close()
  return status
}

describe('serve without --storage', () => {
  it('keeps its records in a SQLite file beside the PKI, in a folder of its owner alone', async () => {
    const service = serve([], admin)
    expect(await service.ready).toMatch(/, storage sqlite$/)
    expect((await stat(join(cwd, '.portcullis'))).mode & 0o777).toBe(0o700)
    expect(existsSync(join(cwd, DATABASE))).toBe(true)
    expect((await stop(service)).code).toBe(0)
  })

  it('says nothing of the admin when it is there with the credentials of the environment, or none are given', async () => {
    for (const variables of [admin, {}]) {
      const service = serve([], variables)
      expect(await loginStatus(service, admin)).toBe(200)
      expect((await stop(service)).stderr).not.toMatch(/admin/i)
    }
  })

  it.each([
    ['password', other],
    ['username', { ...admin, PORTCULLIS_ADMIN_USERNAME: 'keeper-of-old' }],
  ])('says that another %s in the environment was not applied, and leaves the admin as it is', async (_, variables) => {
    const service = serve([], variables)
    expect(await loginStatus(service, admin)).toBe(200)
    expect(await loginStatus(service, other)).toBe(401)
    const { stderr } = await stop(service)
    expect(stderr).toMatch(
      /^portcullis: there is an admin with other credentials: PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD were not applied$/m,
    )
    expect(stderr).not.toMatch(/secret/)
  })

  it('keeps nothing beyond the process in memory, when that is what is asked for', async () => {
    const service = serve(['--storage', 'memory'], other)
    expect(await service.ready).toMatch(/, storage memory$/)
    expect(await loginStatus(service, other)).toBe(200)
    expect((await stop(service)).stderr).not.toMatch(/admin/i)
  })

  it('ends with 2 and one line where the folder cannot be made', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-no-folder-'))
    await writeFile(join(folder, '.portcullis'), '')
    const { code, stderr } = await portcullis(['serve', '--listen', '127.0.0.1:0'], { cwd: folder }).ended
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^portcullis: cannot use the PKI directory \.portcullis\/pki: [^\n]*\n$/),
    ])
    await rm(folder, { recursive: true })
  })
})

describe('serve warns', () => {
  it('of keys and databases that every user of the machine may read, and of a weak password', async () => {
    const weak = { ...admin, PORTCULLIS_ADMIN_PASSWORD: 'keeper1' }
    const open = ['--pki', 'open-pki', '--storage', 'sqlite:open.sqlite']
    const before = serve(open, weak)
    await before.ready
    const first = (await stop(before)).stderr
    expect(first).toContain('"message":"the password of the default admin is weak"')
    expect(first).not.toContain('keeper1')
    expect(first).not.toContain('is open to every user')

    await chmod(join(cwd, 'open-pki/signing.key'), 0o644)
    await chmod(join(cwd, 'open.sqlite'), 0o666)
    const service = serve(open)
    await service.ready
    const lines = (await stop(service)).stderr.split('\n').filter((line) => line.includes('warning'))
    expect(lines).toEqual([
      expect.stringMatching(/^portcullis: warning: the private key open-pki\/signing\.key .* \(mode 0644\): chmod 600/),
      expect.stringMatching(/^portcullis: warning: the database open\.sqlite .* \(mode 0666\)/),
      // SQLite gives it the mode of the database.
      expect.stringMatching(/^portcullis: warning: the database open\.sqlite-wal .* \(mode 0666\)/),
    ])
  })
})

describe('serve to browsers and to the impatient', () => {
  const ORIGIN = 'https://console.example'

  it('answers with CORS headers for the origins of --cors-origin, and with 429 beyond --rate-limits', async () => {
    const limits = ['--rate-limits', 'anonymous=3/60,passwords-by-username=off']
    const service = serve(['--storage', 'memory', '--cors-origin', ORIGIN, ...limits])
    const { fetch, close } = await clientOf(service)
    const ask = async (origin: string) => {
      const { status, headers } = await fetch('/edge/client/v1/version', { headers: { origin } })
      return { status, allowed: headers.get('access-control-allow-origin'), wait: Number(headers.get('retry-after')) }
    }
    expect(await ask(ORIGIN)).toEqual({ status: 200, allowed: ORIGIN, wait: 0 })
    expect(await ask('https://evil.example')).toEqual({ status: 200, allowed: null, wait: 0 })
    expect((await ask(ORIGIN)).status).toBe(200)
    const refused = await ask(ORIGIN)
    expect(refused).toMatchObject({ status: 429, allowed: ORIGIN })
    expect(refused.wait).toBeGreaterThan(0)
    expect(refused.wait).toBeLessThanOrEqual(60)
    close()
    expect((await stop(service)).code).toBe(0)
  })

  it('has neither unless asked', async () => {
    const service = serve(['--storage', 'memory'], { PORTCULLIS_RATE_LIMITS: 'off' })
    const { fetch, close } = await clientOf(service)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetch('/edge/client/v1/version', { headers: { origin: ORIGIN } })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(answers[0]?.headers.get('access-control-allow-origin')).toBeNull()
    close()
    expect((await stop(service)).code).toBe(0)
  })
})
