import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError } from '../contract/http/errors.ts'
import { type Answer, adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { mount } from '../support/mount.ts'

const CSR = signingRequest(newKey())

const STORAGES = [
  ['memory', () => memoryStorage()],
  ['SQLite', () => sqliteStorage(':memory:')],
] as const

async function openOn(open: () => ReturnType<typeof memoryStorage> | ReturnType<typeof sqliteStorage>) {
  const mounted = await mount({ storage: await open() })
  return { mounted, admin: await adminOf(mounted), anybody: foreignClient(mounted, CLIENT) }
}

/** The outcomes of several who ask the same at once, and how often each came. */
async function rush(times: number, ask: () => Promise<Answer>): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const { status, body } of await Promise.all(Array.from({ length: times }, ask))) {
    const outcome = body.error?.code ?? String(status)
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

describe.each(STORAGES)('A23: on %s, of many who use one token at once', (_name, open) => {
  it('one enrolls with a signing request', async () => {
    const { admin, anybody } = await openOn(open)
    const id = await create(admin, '/identities', {
      name: 'a',
      type: 'User',
      isAdmin: false,
      enrollment: { ott: true },
    })
    const { token } = (await read(admin, `/identities/${id}`)).enrollment.ott
    const counts = await rush(200, () => anybody.post('/enroll/ott', { token, clientCsr: CSR }))
    expect(counts).toEqual({ '200': 1, INVALID_ENROLLMENT_TOKEN: 199 })
    expect((await admin.get(`/identities/${id}/authenticators`)).body.data).toHaveLength(1)
  })

  it('one router enrolls', async () => {
    const { admin, anybody } = await openOn(open)
    const id = await create(admin, '/transit-routers', { name: 'router' })
    const { enrollmentToken } = await read(admin, `/transit-routers/${id}`)
    const body = { certCsr: CSR, serverCertCsr: CSR }
    const counts = await rush(50, () => anybody.post(`/enroll?method=trott&token=${enrollmentToken}`, body))
    expect(counts).toEqual({ '200': 1, INVALID_ENROLLMENT_TOKEN: 49 })
  })
})

describe('A24: a token is worth nothing', () => {
  async function invited(method: 'ott' | 'updb') {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const enrollment = method === 'ott' ? { ott: true } : { updb: 'somebody' }
    const id = await create(admin, '/identities', { name: 'a', type: 'User', isAdmin: false, enrollment })
    const shown = (await read(admin, `/identities/${id}`)).enrollment[method]
    const use = (token: string) =>
      foreignClient(mounted, CLIENT).post(`/enroll?method=${method}&token=${token}`, {
        clientCsr: CSR,
        password: 'long-enough',
      })
    return { mounted, admin, id, shown, use }
  }
  const at = (mounted: MountedController, ms: number) => new Date(mounted.clock.now() + ms).toISOString()

  it.each(['ott', 'updb'] as const)('(%s) from the instant at which it expires', async (method) => {
    const { mounted, shown, use } = await invited(method)
    mounted.clock.advance(Date.parse(shown.expiresAt) - mounted.clock.now())
    expectError(await use(shown.token), 'ENROLLMENT_EXPIRED')
    mounted.clock.advance(-1)
    expect((await use(shown.token)).status).toBe(200)
  })

  it.each(['ott', 'updb'] as const)('(%s) once it was refreshed, deleted, or its identity is gone', async (method) => {
    const { mounted, admin, id, shown, use } = await invited(method)
    expect((await admin.post(`/enrollments/${shown.id}/refresh`, { expiresAt: at(mounted, 60_000) })).status).toBe(200)
    expectError(await use(shown.token), 'INVALID_ENROLLMENT_TOKEN')
    const { token } = (await read(admin, `/identities/${id}`)).enrollment[method]
    expectDone(await admin.delete(`/enrollments/${shown.id}`))
    expectError(await use(token), 'INVALID_ENROLLMENT_TOKEN')
    const again = { identityId: id, method, username: 'somebody', expiresAt: at(mounted, 60_000) }
    await create(admin, '/enrollments', again)
    const last = (await read(admin, `/identities/${id}`)).enrollment[method].token
    expectDone(await admin.delete(`/identities/${id}`))
    expectError(await use(last), 'INVALID_ENROLLMENT_TOKEN')
  })

  it('of a router that was told to enroll anew', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const id = await create(admin, '/edge-routers', { name: 'router' })
    const { enrollmentToken } = await read(admin, `/edge-routers/${id}`)
    expectDone(await admin.send('POST', `/edge-routers/${id}/re-enroll`))
    const csr = signingRequest(newKey(), `/CN=${id}`)
    const use = (token: string) =>
      foreignClient(mounted, CLIENT).post(`/enroll?method=erott&token=${token}`, { certCsr: csr, serverCertCsr: csr })
    expectError(await use(enrollmentToken), 'INVALID_ENROLLMENT_TOKEN')
    expect((await use((await read(admin, `/edge-routers/${id}`)).enrollmentToken)).status).toBe(200)
  })
})
