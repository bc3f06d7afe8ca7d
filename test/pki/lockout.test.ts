import { createPkiMaterial } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSigningRequest } from '../../adapters/network/enrollment/created-requests.ts'
// Internals: the rules that foresee who is locked out, with certificates that no network issued.
import { endOfCertificate } from '../../src/facts/pki/certificate-end.rules.ts'
import { examineHolders } from '../../src/pki/certificate-holders.ts'
import { extend, pkiOf } from './keys.ts'

const DAY_MS = 24 * 3_600_000

/** A network of which the root is changed, with certificates of before in the hands of `names`. */
async function rotatedNetwork({ keepDays = 90, names = ['a', 'b', 'c', 'd', 'e'] } = {}) {
  const controller = await createTestController()
  onTestFinished(() => controller.close())
  for (const name of names) await controller.enroll(name)
  const pki = await pkiOf(controller)
  const keepUntil = instant(controller, keepDays)
  const { data } = await pki.call('POST /pki/rotations', { body: { what: 'root', keepUntil } })
  const [former] = data.authorities
  const change = (body: Readonly<Record<string, unknown>>, id = former?.id ?? '') =>
    pki.call('PATCH /pki/authorities/{id}', { params: { id }, body })
  const isAsked = async () => (await pki.call('GET /pki')).data.authorities.at(-1)?.askedAt
  await expect.poll(isAsked).not.toBe(null)
  return { controller, pki, change }
}

function instant(controller: TestController, days: number): string {
  return new Date(controller.clock.now() + days * DAY_MS).toISOString()
}

const LOCKED_OUT = /5 identities would be locked out: ('\w', ){4}'\w'; .* say locksOut/

describe('an end of an authority that comes within a day', () => {
  it('is refused with the number and names of those who have no other certificate, unless it is meant', async () => {
    const { controller, pki, change } = await rotatedNetwork()
    const refused = { status: 400, message: expect.stringMatching(LOCKED_OUT) }
    for (const days of [0, 0.5]) {
      await expect(change({ goodUntil: instant(controller, days) })).rejects.toMatchObject(refused)
    }
    const { data } = await change({ goodUntil: instant(controller, 0), locksOut: true })
    await controller.elapse(1000)
    expect(data.authorities[0]?.goodUntil).toBe(new Date(controller.clock.now() - 1000).toISOString())
    await expect(controller.as('a').call('GET /current-identity')).rejects.toMatchObject({ status: 401 })
    expect((await pki.call('GET /pki')).data.due.ended).toMatchObject({ identities: 5, routers: 0 })
    const { data: told } = await pki.call('GET /pki/outstanding')
    expect(told.map(({ reason }) => reason)).toEqual(Array(5).fill('locked-out'))
    expect(told[0]?.help).toMatch(/^portcullis invite \w --again/)
  })

  it('is taken where everybody has renewed, and where it leaves time to', async () => {
    const { controller, change } = await rotatedNetwork({ names: ['a', 'b'] })
    await change({ goodUntil: instant(controller, 30) })
    await extend(controller.as('a'))
    await expect(change({ goodUntil: instant(controller, 0) })).rejects.toMatchObject({
      message: expect.stringMatching(/1 identity would be locked out: 'b';/),
    })
    await extend(controller.as('b'))
    await change({ goodUntil: instant(controller, 0) })
    await controller.as('b').call('GET /current-identity')
  })

  it('is refused of a rotation too, and names ten of many', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `device-${at}`)
    const controller = await createTestController()
    onTestFinished(() => controller.close())
    for (const name of names) await controller.enroll(name)
    const pki = await pkiOf(controller)
    const keepUntil = instant(controller, 0.1)
    const rotate = (locksOut: boolean) =>
      pki.call('POST /pki/rotations', { body: { what: 'signing', keepUntil, locksOut } })
    await expect(rotate(false)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/12 identities would be locked out: ('device-\d+'(, )?){10} and 2 more;/),
    })
    expect((await pki.call('GET /pki')).data.authorities).toHaveLength(1)
    expect((await rotate(true)).data.authorities).toHaveLength(2)
  })

  it('counts an identity that enrolled anew by the best of its certificates', async () => {
    const { controller, pki, change } = await rotatedNetwork({ names: ['a'] })
    const [known] = (await controller.admin.call('GET /identities', { query: { filter: 'name = "a"' } })).data
    const { admin } = controller
    const body = { identityId: known?.id ?? '', method: 'ott', expiresAt: instant(controller, 1) } as const
    await admin.call('POST /enrollments', { body })
    await expect(change({ goodUntil: instant(controller, 0) })).rejects.toMatchObject({ status: 400 })
    const { token = '' } =
      (await admin.call('GET /identities/{id}', { params: { id: body.identityId } })).data.enrollment.ott ?? {}
    const { csr } = await createSigningRequest('a')
    const url = `https://controller.test/edge/client/v1/enroll?method=ott&token=${token}`
    const headers = { 'content-type': 'application/x-pem-file' }
    expect(await controller.fetch(new Request(url, { method: 'POST', body: csr, headers }))).toMatchObject({
      status: 200,
    })
    expect((await pki.call('GET /pki')).data.progress?.identities).toEqual({ renewed: 1, outstanding: 0 })
    await change({ goodUntil: instant(controller, 0) })
  })
})

describe('an authority that is to sign', () => {
  it('is refused where another one has followed it, and says what helps', async () => {
    const { change } = await rotatedNetwork({ names: [] })
    await expect(change({ issues: true })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/does not sign again, for another one has taken its place: .* pki rotate signing/),
    })
  })

  it('is refused while somebody does not know its root, for which nobody vouches', async () => {
    const { caKeyPem: _, ...material } = await createPkiMaterial({
      ...{ hosts: ['localhost'], trustDomain: 'corp.test', now: Date.UTC(2026, 0, 1) },
    })
    const controller = await createTestController({ pki: material })
    onTestFinished(() => controller.close())
    await controller.enroll('a')
    const pki = await pkiOf(controller)
    const { data } = await pki.call('POST /pki/rotations', { body: { what: 'root' } })
    const params = { id: data.authorities[1]?.id ?? '' }
    await expect.poll(async () => (await pki.call('GET /pki')).data.due.outstanding.identities).toBe(1)
    const lets = (locksOut: boolean) =>
      pki.call('PATCH /pki/authorities/{id}', { params, body: { issues: true, locksOut } })
    await expect(lets(false)).rejects.toMatchObject({
      message: expect.stringMatching(/1 identity may not know its root/),
    })
    expect((await lets(true)).data.authorities[1]?.state).toBe('issuing')
  })
})

describe('a holder that has not renewed', () => {
  it('is named with the reason and with what helps: the SDK of Go never renews, others do when they are seen', async () => {
    const { controller, pki } = await rotatedNetwork({ names: ['sleeps', 'awake'] })
    await controller.elapse(60_000)
    await controller.as('awake').call('GET /current-identity')
    const { data } = await pki.call('GET /pki/outstanding')
    const told = new Map(data.map(({ name, reason, endsAt }) => [name, [reason, endsAt?.slice(0, 4)]]))
    expect(told.get('sleeps')).toEqual(['not-seen', '2026'])
    expect(told.get('awake')?.[0]).toBe('asked')
  })
})

describe('a look at the certificates of everybody', () => {
  it('leaves the thread to others in between, in the middle of a slice of the storage too', async () => {
    const storage = memoryStorage()
    const controller = await createTestController({ storage })
    onTestFinished(() => controller.close())
    for (let at = 0; at < 40; at += 1) await controller.enroll(`device-${at}`)
    let asked = 0
    const turn = async () => {
      asked += 1
    }
    const turns = { begin: () => turn }
    const judging = { authorities: [], configuredKeyId: '' }
    const { totals } = await storage.read((tx) => examineHolders(tx, judging, 0, turns))
    expect([totals.identities, asked]).toEqual([40, 40])
  })
})

describe('the end of a certificate', () => {
  it('is read without the rest of it, of any year', async () => {
    const now = Date.UTC(2026, 5, 1)
    const { caPem, signingCertPem } = await createPkiMaterial({ hosts: ['a'], trustDomain: 'corp.test', now })
    expect(endOfCertificate(caPem)).toBe(Date.UTC(2036, 5, 1))
    expect(endOfCertificate(signingCertPem)).toBe(Date.UTC(2031, 5, 1))
    for (const text of [
      '',
      'x',
      ...['AAAA', 'MIIB', 'A===', '!', '////'].map((part) => `-----BEGIN CERTIFICATE-----\n${part}`),
    ]) {
      expect(endOfCertificate(text)).toBeUndefined()
    }
  })
})
