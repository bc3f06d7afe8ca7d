import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createController } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { afterAll, expect, it } from 'vitest'

const directory = mkdtempSync(join(tmpdir(), 'portcullis-rest-'))
afterAll(() => rmSync(directory, { recursive: true }))

const admin = { username: 'admin', password: 'canary-of-the-admin' }

it('keeps no session token, password, TOTP secret or recovery code readable in the files of its database', async () => {
  const controller = await createController({
    storage: await sqliteStorage(join(directory, 'rest.db')),
    address: 'controller.test:1280',
    admin,
  })
  const ask = async (path: string, token: string, method = 'GET', body?: object) => {
    const headers = { 'zt-session': token, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const request = new Request(`https://controller.test/edge/management/v1${path}`, { method, headers, ...sent })
    const text = await (await controller.fetch(request)).text()
    return (name: string) => new RegExp(`"${name}":"([^"]+)"`).exec(text)?.[1] ?? text
  }
  const token = (await ask('/authenticate?method=password', '', 'POST', admin))('token')
  await ask('/current-identity/mfa', token, 'POST')
  const mfa = await ask('/current-identity/mfa', token)
  const secret = /secret=([A-Z2-7]+)/.exec(mfa('provisioningUrl'))?.[1] ?? ''
  const recoveryCode = /"recoveryCodes":\["([^"]+)"/.exec(mfa('no such member'))?.[1] ?? ''
  const invited = { name: 'device', type: 'Default', isAdmin: false, enrollment: { ott: true } }
  const id = (await ask('/identities', token, 'POST', invited))('id')
  const enrollmentToken = (await ask(`/identities/${id}`, token))('token')
  const files = readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), 'latin1'))
    .join('')
  await controller.close()

  const canaries = { token, password: admin.password, secret, recoveryCode }
  for (const [what, canary] of Object.entries(canaries)) {
    expect(canary.length, what).toBeGreaterThanOrEqual(6)
    expect(canary.length, what).toBeLessThan(100)
    expect(files.includes(canary), `${what} stands in the files`).toBe(false)
  }
  // The interface shows it again until it is used.
  expect(files.includes(enrollmentToken)).toBe(true)
}, 60_000)

it('lets only their owner read the files of a database and of its snapshots', async () => {
  const own = mkdtempSync(join(directory, 'own-'))
  const storage = await sqliteStorage(join(own, 'own.db'))
  const controller = await createController({ storage, address: 'controller.test:1280', admin })
  await storage.snapshot?.()
  const modes = readdirSync(own).map((name) => [
    name.replace(/snapshot-.*/, 'snapshot'),
    statSync(join(own, name)).mode & 0o777,
  ])
  expect(Object.fromEntries(modes)).toEqual({
    'own.db': 0o600,
    'own.db-shm': 0o600,
    'own.db-wal': 0o600,
    'own.db.snapshot': 0o600,
  })
  await controller.close()
})
