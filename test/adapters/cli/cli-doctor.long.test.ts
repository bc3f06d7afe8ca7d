import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createController, createPkiMaterial, SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { openPkiDirectory } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { httpsClient } from '../../support/https-fetch.ts'
import { startPostgres } from '../../support/postgres.ts'
import { eventDeliveries, identities } from '../../support/stored-records.ts'
import { endAll, portcullis, portIn } from './cli-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-doctor-'))
const run = (args: readonly string[], input?: string) =>
  portcullis(args, { cwd, ...(input !== undefined && { input }) }).ended

beforeAll(async () => {
  const made = await run(['init', '--host', 'ctrl.example', '--password-stdin', '--json'], 'a-secret-of-mine\n')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(made.stdout).hosts).toContain('ctrl.example')
})
afterAll(() => {
  endAll()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

/** The findings of doctor, without those that are well. */
async function findings(...args: readonly string[]) {
  const { code, stdout } = await run(['doctor', '--json', ...args])
  const found: readonly { readonly level: string; readonly text: string }[] = JSON.parse(stdout)
  return { code, found: found.filter(({ level }) => level !== 'ok').map(({ level, text }) => `${level}: ${text}`) }
}

describe('portcullis init', () => {
  it('makes a folder that serve takes as it is, for its owner alone, and touches none that is there', async () => {
    for (const [path, mode] of [
      ['.portcullis', 0o700],
      ['.portcullis/pki/signing.key', 0o600],
    ] as const) {
      expect(statSync(join(cwd, path)).mode & 0o777).toBe(mode)
    }
    const variables = { PORTCULLIS_ADMIN_USERNAME: 'admin', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }
    const service = portcullis(['serve', '--listen', '127.0.0.1:0'], { cwd, variables })
    await service.ready
    service.kill('SIGTERM')
    expect((await service.ended).stderr).not.toMatch(/created|other credentials/)
    expect(await run(['init', '--password-stdin'], 'another-secret\n')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('.portcullis/portcullis.sqlite is there already'),
    })
  })
})

describe('portcullis doctor', () => {
  it('finds nothing in a new network', async () => {
    const { code, stdout } = await run(['doctor'])
    expect(code).toBe(0)
    expect(stdout.match(/^ok /gm)).toHaveLength(4)
  })

  it('warns of certificates that expire soon, and of keys that are open', async () => {
    chmodSync(join(cwd, '.portcullis/pki/server.key'), 0o644)
    const { code, found } = await findings('--within-days', '400')
    chmodSync(join(cwd, '.portcullis/pki/server.key'), 0o600)
    expect(code).toBe(0)
    expect(found).toEqual([
      expect.stringMatching(/^warning: \.portcullis\/pki\/server\.pem .* expires on \d{4}-/),
      expect.stringContaining('server.key is open to every user'),
    ])
  })

  it('looks at certificates in files of their own as serve takes them', async () => {
    const file = (name: string) => `.portcullis/pki/${name}`
    const parts = ['server-cert', 'server-key', 'signing-cert', 'signing-key', 'ca']
    const files = ['server.pem', 'server.key', 'signing.pem', 'signing.key', 'ca.pem'].map(file)
    const named = parts.flatMap((part, at) => [`--${part}`, files[at] ?? ''])
    const { code, found } = await findings('--within-days', '400', ...named)
    expect([code, found]).toEqual([0, [expect.stringMatching(/server\.pem .* expires on/)]])
    const some = await run(['doctor', ...named.slice(0, 2)])
    expect(some).toMatchObject({ code: 2, stderr: expect.stringContaining('--server-cert needs --server-key') })
  })

  it('looks at what a file of options names: the address that devices are told, and the backups', async () => {
    writeFileSync(join(cwd, 'options.json'), JSON.stringify({ advertise: 'ctrl.example:1280', pki: '.portcullis/pki' }))
    expect(await findings('--config', 'options.json')).toEqual({ code: 0, found: [] })
    const elsewhere = await findings('--config', 'options.json', '--advertise', 'other.example:1280')
    expect(elsewhere).toEqual({
      code: 3,
      found: [
        expect.stringMatching(/^wrong: the certificate of the server is not for other\.example, .* ctrl\.example/),
      ],
    })
    mkdirSync(join(cwd, 'copies'))
    const withBackups = () => findings('--config', 'options.json', '--backups', 'copies')
    expect(await withBackups()).toMatchObject({ code: 3, found: [expect.stringContaining('holds no copy')] })
    expect(await run(['backup', 'run', '--to', 'copies'])).toMatchObject({ code: 0 })
    expect(await withBackups()).toEqual({ code: 0, found: [] })
    const [copy = ''] = readdirSync(join(cwd, 'copies'))
    const before = (Date.now() - 3 * 86_400_000) / 1000
    utimesSync(join(cwd, 'copies', copy), before, before)
    expect(await withBackups()).toEqual({
      code: 0,
      found: [expect.stringMatching(/^warning: the latest copy .* 3 days/)],
    })
    expect(await run(['doctor', '--backups', 'nowhere'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--backups'),
    })
    // Seven processes, one after the other.
  }, 120_000)

  it('tells many findings of one kind in one line, and each by itself where it is asked to', async () => {
    const place = mkdtempSync(join(tmpdir(), 'portcullis-doctor-many-'))
    const controller = await createTestController({
      storage: await sqliteStorage(join(place, 'network.sqlite')),
      now: Date.now(),
    })
    const roles = { identityRoles: ['#none'], serviceRoles: ['#none'] }
    for (let at = 0; at < 20; at += 1) {
      await controller.admin.call('POST /services', { body: { name: `service-${at}`, encryptionRequired: true } })
      if (at < 5)
        await controller.admin.call('POST /service-policies', {
          body: { name: `policy-${at}`, type: 'Dial', semantic: 'AnyOf', ...roles },
        })
    }
    await controller.close()
    const lines = async (...args: readonly string[]) => {
      const { stdout } = await portcullis(['doctor', '--storage', 'sqlite:network.sqlite', ...args], { cwd: place })
        .ended
      return stdout.split('\n').filter((line) => line.includes('network: '))
    }
    const few = await lines()
    expect(few).toHaveLength(6)
    expect(few.at(-1)).toMatch(
      /^warning {2}network: 20 services have no edge router: .* \((service-\d+(, )?){5} and 15 others\); portcullis doctor --all/,
    )
    expect(await lines('--all')).toHaveLength(25)
    rmSync(place, { recursive: true })
  }, 120_000)

  it('tells who has no certificate of the next authority when the one before ends soon', async () => {
    const place = mkdtempSync(join(tmpdir(), 'portcullis-doctor-keys-'))
    const names = { hosts: ['localhost'], trustDomain: 'corp.test', now: Date.now() }
    const controller = await createTestController({
      storage: await sqliteStorage(join(place, 'network.sqlite')),
      pki: await openPkiDirectory(join(place, 'pki'), names),
      now: Date.now(),
    })
    await controller.enroll('laptop')
    await controller.close()
    const where = ['--storage', 'sqlite:network.sqlite', '--pki', 'pki']
    const at = (...args: readonly string[]) => portcullis([...args, ...where], { cwd: place }).ended
    expect(await at('doctor')).not.toMatchObject({ stdout: expect.stringContaining('latest authority') })
    expect(await at('pki', 'rotate', 'root', '--keep', '10d')).toMatchObject({ code: 0 })
    const { stdout } = await at('doctor')
    expect(stdout).toMatch(/^warning {2}certificates: let in for less than 30 days still: 1 identity \('laptop'\)$/m)
    expect(stdout).toMatch(
      /^warning {2}certificates: without a certificate of the latest authority: 1 identity \('laptop'\);/m,
    )
    expect((await at('doctor', '--within-days', '5')).stdout).not.toContain('let in for less')
    const [{ id = '' } = {}] = JSON.parse((await at('pki', 'status', '--json')).stdout).authorities
    // Another folder of keys does not open what is stored.
    await openPkiDirectory(join(place, 'other'), names)
    const other = () => portcullis(['doctor', ...where.slice(0, 3), 'other'], { cwd: place }).ended
    const isWrong = { code: 3, stdout: expect.stringContaining('cannot be opened with these keys') }
    // The next authority signs 20 s after it was made: until then nobody needs its key.
    await vi.waitFor(async () => expect(await other()).toMatchObject(isWrong), { timeout: 90_000, interval: 2000 })
    // An end that locks somebody out is asked for by name.
    expect(await at('pki', 'change', id, '--keep', '0')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/1 identity would be locked out: 'laptop'; .* say --force/),
    })
    expect(await at('pki', 'change', id, '--issues')).toMatchObject({
      stderr: expect.stringContaining('does not sign again'),
    })
    expect(await at('pki', 'change', id, '--keep', '0', '--force')).toMatchObject({ code: 0 })
    expect(await at('doctor')).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^wrong {4}certificates: locked out, .* have ended: 1 identity \('laptop'\)$/m),
    })
    rmSync(place, { recursive: true })
  }, 180_000)

  it('tells certificates that expired, and keys of others, with 3', async () => {
    const old = { hosts: ['localhost'], trustDomain: 'old.example', now: Date.UTC(2010, 0, 1) }
    const { serverCertPem, serverKeyPem, ...rest } = await createPkiMaterial(old)
    const folder = join(cwd, 'old')
    const parts = { 'ca.pem': rest.caPem, 'signing.pem': rest.signingCertPem, 'signing.key': rest.signingKeyPem }
    const pki = { ...parts, 'server.pem': serverCertPem, 'server.key': serverKeyPem }
    const { mkdirSync } = await import('node:fs')
    mkdirSync(folder)
    for (const [name, pem] of Object.entries(pki)) writeFileSync(join(folder, name), pem, { mode: 0o600 })
    const expired = await findings('--pki', 'old')
    expect(expired.code).toBe(3)
    expect(expired.found).toContainEqual(expect.stringMatching(/^wrong: old\/server\.pem .* expired on 2011-/))
    writeFileSync(join(folder, 'server.key'), rest.signingKeyPem)
    const mismatched = await findings('--pki', 'old')
    expect(mismatched).toMatchObject({ code: 3, found: [expect.stringContaining('does not match the certificate')] })
  })

  it('warns of policies that select nothing and services without routers', async () => {
    const storage = await sqliteStorage(join(cwd, '.portcullis/portcullis.sqlite'))
    const { engine, close } = await createController({ storage, address: 'localhost:1' })
    await engine.services.create(SYSTEM_CALL, { name: 'payroll', encryptionRequired: true })
    const roles = { identityRoles: ['#nobody'], serviceRoles: ['#all'] }
    await engine.servicePolicies.create(SYSTEM_CALL, { name: 'empty', type: 'Dial', semantic: 'AnyOf', ...roles })
    await close()
    const { code, found } = await findings()
    expect(code).toBe(0)
    expect(found).toEqual([
      "warning: service policy 'empty' selects no identities",
      "warning: service 'payroll' has no edge router: no service edge router policy selects one for it",
    ])
  })

  it('tells with 3 that no administrator can log in', async () => {
    const storage = await sqliteStorage(join(cwd, '.portcullis/portcullis.sqlite'))
    const { engine, close } = await createController({ storage, address: 'localhost:1' })
    const { items } = await storage.read((tx) => tx.collection(identities).find())
    for (const { id } of items) await engine.identities.disable(SYSTEM_CALL, id, { durationMinutes: 0 })
    await close()
    const { code, found } = await findings()
    expect(code).toBe(3)
    expect(found).toContain('wrong: no administrator can log in: portcullis admin reset-password')
    await run(['admin', 'reset-password', '--password-stdin'], 'a-secret-of-mine\n')
    expect((await findings()).code).toBe(0)
  })

  it('restores a default auth policy that lets nobody in, while the storage is served', async () => {
    const variables = { PORTCULLIS_ADMIN_USERNAME: 'admin', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }
    const database = new DatabaseSync(join(cwd, '.portcullis/portcullis.sqlite'))
    database.exec(`update auth_policies set "primary" = '{' where id = 'default'`)
    database.close()
    const service = portcullis(['serve', '--listen', '127.0.0.1:0'], { cwd, variables })
    const port = portIn(await service.ready)
    const { fetch, close } = httpsClient({ port, ca: readFileSync(join(cwd, '.portcullis/pki/ca.pem'), 'utf8') })
    const logIn = async () => {
      const body = JSON.stringify({ username: 'admin', password: 'a-secret-of-mine' })
      const headers = { 'content-type': 'application/json' }
      const path = '/edge/management/v1/authenticate?method=password'
      return (await fetch(path, { method: 'POST', headers, body })).status
    }
    expect(await logIn()).not.toBe(200)
    const damaged = 'authPolicies default is damaged: primary cannot be read'
    expect(await findings()).toMatchObject({ code: 3, found: expect.arrayContaining([`wrong: ${damaged}`]) })
    const { code, found } = await findings('--repair')
    expect([code, found[0]]).toEqual([0, `warning: restored: ${damaged}`])
    expect(await logIn()).toBe(200)
    expect((await findings('--repair')).found.filter((text) => text.includes('restored'))).toEqual([])
    expect((await run(['doctor', '--delete-damaged'])).stderr).toContain('--delete-damaged goes with --repair')
    await close()
    service.kill('SIGTERM')
    await service.ended
  })

  it('warns of dead letters of webhooks', async () => {
    const file = join(cwd, 'hooks.sqlite')
    const storage = await sqliteStorage(file)
    const controller = await createTestController({ storage })
    const body = { name: 'chat', endpoint: 'https://hooks.example/' }
    const { id } = await controller.engine.webhooks.create(SYSTEM_CALL, body)
    await controller.engine.webhooks.create(SYSTEM_CALL, { name: 'quiet', endpoint: 'https://other.example/' })
    const letter = {
      createdAt: 1,
      updatedAt: 1,
      tags: {},
      cursorId: id,
      webhookId: id,
      subject: 'x',
      attempts: 9,
      dueAt: 1,
    }
    await storage.write(async (tx) => {
      for (const [record, isDead] of [
        ['1', true],
        ['2', true],
        ['3', false],
      ] as const) {
        const rest = { id: `d${record}`, recordId: record, isDead, problem: 'refused' }
        await tx.collection(eventDeliveries).insert({ ...letter, ...rest })
      }
    })
    await controller.close()
    await storage.close()
    const { found } = await findings('--storage', `sqlite:${file}`)
    expect(found.filter((text) => text.includes('dead'))).toEqual([
      'warning: chat has 2 dead letters: portcullis webhooks resend sends them again',
    ])
  })

  it('says which settings of a PostgreSQL server lose what it acknowledged', async () => {
    const about = (texts: readonly string[]) => texts.filter((text) => /fsync|synchronous|standby|timeout/.test(text))
    const careless = await startPostgres({ settings: ['synchronous_standby_names=one'] })
    onTestFinished(() => careless.stop())
    const first = await findings('--storage', careless.url)
    expect(first.code).toBe(3)
    expect(about(first.found)).toEqual([
      'wrong: fsync is off: a server that loses power loses what it acknowledged, or all of it',
      'wrong: synchronous_commit is off: a server that fails loses what it acknowledged',
      'warning: it has no standby: nothing is written while that is away, or it is lost; three members are asked for',
    ])
    const careful = await startPostgres({ isDurable: true })
    onTestFinished(() => careful.stop())
    expect(about((await findings('--storage', careful.url)).found)).toEqual([])
  }, 120_000)

  it('refuses a storage that is not there with 2', async () => {
    expect(await run(['doctor', '--storage', 'sqlite:none'])).toMatchObject({
      code: 2,
      stderr: 'portcullis: --storage: there is no file none\n',
    })
  })
})
