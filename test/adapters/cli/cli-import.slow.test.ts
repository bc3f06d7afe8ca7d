import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createController } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { openPkiDirectory, serve } from 'portcullis/node'
import { TEST_ADMIN } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSigningRequest } from '../../../adapters/network/enrollment/created-requests.ts'
import { CLIENT, create, foreignClient, MANAGEMENT, passwordLogin, read } from '../../contract/http/foreign-client.ts'
import type { ClientCertificate, MountedController } from '../../contract/http/mount.ts'
import { completeMfa } from '../../support/mfa-enrollment.ts'
import { mountOf } from '../../support/mount.ts'
import { person } from '../../support/people.ts'
import { totp } from '../../support/totp.ts'
import { runProgram } from './run-program.ts'

const ADMIN = { PORTCULLIS_ADMIN_USERNAME: TEST_ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: TEST_ADMIN.password }

let cwd: string
let from: readonly string[]
let certificate: ClientCertificate
let end: () => Promise<void>

/** A controller as those of the tests that are called in process. */
function called(controller: Awaited<ReturnType<typeof createController>>): MountedController {
  const clock = { now: () => Date.now(), advance: () => undefined }
  return mountOf(Object.assign(controller, { clock }) as unknown as Parameters<typeof mountOf>[0])
}

const as = (mounted: MountedController) => foreignClient(mounted, CLIENT, undefined, certificate)

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-import-'))
  const pki = join(cwd, 'pki')
  const controller = await createController({
    storage: memoryStorage(),
    address: 'localhost:1280',
    pki: openPkiDirectory(pki, { hosts: ['localhost'] }),
    admin: TEST_ADMIN,
  })
  const server = await serve(controller, { host: '127.0.0.1', port: 0 })
  const mounted = called(controller)
  const admin = foreignClient(mounted, MANAGEMENT, await passwordLogin(mounted, TEST_ADMIN))
  await create(admin, '/services', { name: 'wiki', encryptionRequired: true, roleAttributes: ['all'] })
  const roles = { semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] }
  await create(admin, '/service-policies', { name: 'all', type: 'Dial', ...roles })
  const alice = await person(mounted, admin, 'alice', { enrollment: { ott: true } })
  const { token } = (await read(admin, `/identities/${alice.id}`)).enrollment.ott
  const { csr, key } = await createSigningRequest('alice')
  const enrolled = await foreignClient(mounted, CLIENT).post('/enroll/ott', { token, clientCsr: csr })
  certificate = { cert: enrolled.body.data.cert, key }
  await completeMfa(mounted, alice)
  await person(mounted, admin, 'bob')
  await writeFile(join(cwd, 'ca.pem'), controller.caPem)
  const url = `https://localhost:${server.port}`
  from = ['import', '--from', url, '--from-ca', join(cwd, 'ca.pem'), '--pki', pki]
  end = async () => {
    await server.close()
    await controller.close()
    await rm(cwd, { recursive: true })
  }
})
afterAll(() => end())

/** Imports into a new storage, of which a controller is made. */
async function moved(name: string, ...more: string[]) {
  const path = join(cwd, `${name}.sqlite`)
  const told = await runProgram([...from, '--storage', `sqlite:${path}`, ...more], ADMIN)
  expect(told.code, told.stdout + told.stderr).toBe(0)
  const controller = await createController({
    storage: await sqliteStorage(path),
    address: 'localhost:1280',
    pki: openPkiDirectory(join(cwd, 'pki')),
  })
  return { told, controller, mounted: called(controller), lastLine: told.stdout.trimEnd().split('\n').at(-1) }
}

async function logIn(mounted: MountedController) {
  const answer = await as(mounted).post('/authenticate?method=cert', {})
  expect(answer.status, answer.text).toBe(200)
  return foreignClient(mounted, CLIENT, answer.body.data.token, certificate)
}

describe('identities with a second factor, which no controller shows', () => {
  it('are counted in the last line, before and after they are taken over, and log in without one', async () => {
    const dry = await runProgram([...from, '--storage', 'sqlite:none.sqlite', '--dry-run'], ADMIN)
    expect(dry.stdout.trimEnd().split('\n').at(-1)).toContain('warning: 1 identity loses its second factor')
    const { controller, mounted, lastLine } = await moved('free')
    expect(lastLine).toContain('warning: 1 identity loses its second factor')
    expect(lastLine).toContain('--hold-second-factors')
    expect((await (await logIn(mounted)).get('/services')).status).toBe(200)
    await controller.close()
  })

  it('are held by the option until they have one again, also when it is done twice', async () => {
    const first = await moved('held', '--hold-second-factors')
    await first.controller.close()
    const { controller, mounted, lastLine, told } = await moved('held', '--hold-second-factors')
    expect(told.stdout).toContain('identities: 0 created, 0 updated')
    expect(lastLine).toBe(
      '1 identity loses its second factor, and may do nothing but enroll one until they have one again.',
    )
    const api = await logIn(mounted)
    for (const path of ['/services', '/current-identity/edge-routers', '/sessions'])
      expect([path, (await api.get(path)).status]).toEqual([path, 401])
    expect((await api.post('/current-identity/mfa')).status).toBe(201)
    const { provisioningUrl } = await read(api, '/current-identity/mfa')
    const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
    const code = totp(secret, Date.now())
    expect((await api.post('/current-identity/mfa/verify', { code })).status).toBe(200)
    expect((await api.get('/services')).body.data).toHaveLength(1)
    await controller.close()
  })

  it('are let go of by an import without the option', async () => {
    const held = await moved('released', '--hold-second-factors')
    await held.controller.close()
    const { controller, mounted, lastLine } = await moved('released')
    expect(lastLine).toContain('warning: 1 identity loses its second factor')
    expect((await (await logIn(mounted)).get('/services')).status).toBe(200)
    await controller.close()
  })

  it.each<[string, readonly string[], string | undefined]>([
    ['nobody', [], undefined],
    ['one', ['anna'], 'warning: 1 identity has a second factor that is not in the file'],
    ['two', ['anna', 'ben'], 'warning: 2 identities have a second factor that is not in the file'],
  ])('are counted in the last line where they come from a file: %s', async (name, withMfa, warning) => {
    const identity = (of: string, more: object) => ({
      name: of,
      typeId: 'Default',
      isAdmin: false,
      isDefaultAdmin: false,
      isMfaEnabled: withMfa.includes(of),
      ...more,
    })
    // The controller makes the default admin and the identities of routers itself: those of the file stay there.
    const own = [
      identity('Default Admin', { isDefaultAdmin: true, isMfaEnabled: true }),
      identity('er', { typeId: 'Router', isMfaEnabled: true }),
    ]
    const file = join(cwd, `${name}.json`)
    await writeFile(file, JSON.stringify({ identities: [...own, identity('anna', {}), identity('ben', {})] }))
    const to = ['--url', String(from[2]), '--ca', join(cwd, 'ca.pem'), '--dry-run']
    const told = await runProgram(['import', '--from', file, ...to], ADMIN)
    expect(told.code, told.stderr).toBe(0)
    const last = told.stdout.trimEnd().split('\n').at(-1)
    if (warning === undefined) expect(told.stdout).not.toContain('second factor')
    else expect(last).toContain(warning)
    const json = await runProgram(['import', '--from', file, ...to, '--json'], ADMIN)
    expect(JSON.parse(json.stdout)).toMatchObject({ secondFactors: { lost: withMfa.length } })
  })

  it('are not held where they come from a file, for nobody of it has a way in', async () => {
    const refused = await runProgram(['import', '--from', 'export.json', '--hold-second-factors'], ADMIN)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--hold-second-factors goes with')])
  })
})
