import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { createPkiMaterial } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { signerOf } from '../support/certificates/held-keys.ts'
import { opensslOutput } from '../support/certificates/openssl.ts'
import { shortRoot } from '../support/certificates/short-root.ts'
import { signingKeys } from '../support/stored-records.ts'
import { extend, pkiOf } from './keys.ts'

const DAY_MS = 24 * 3_600_000

function blocks(pem: string): readonly X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (block) => new X509Certificate(block),
  )
}

/** Whether OpenSSL, which knows `ca` alone, lets a server or client chain lead to it. */
function verifies(ca: string, chain: string, purpose: 'sslserver' | 'sslclient', at: number): boolean {
  const time = ['-attime', String(Math.floor(at / 1000))]
  try {
    return opensslOutput(
      ['verify', '-purpose', purpose, ...time, '-CAfile', 'ca.pem', '-untrusted', 'chain.pem', 'chain.pem'],
      { 'ca.pem': ca, 'chain.pem': chain },
    ).includes('OK')
  } catch {
    return false
  }
}

describe('a change of the root', () => {
  it('shuts nobody out: what knew the old root trusts the new server, and old certificates log in', async () => {
    const controller = await createTestController()
    const pki = await pkiOf(controller)
    const before = controller.caPem
    const device = await controller.enroll('laptop')
    const untouched = await controller.enroll('phone')
    await device.call('GET /current-identity')
    const serverBefore = controller.tls().cert

    const { data } = await pki.call('POST /pki/rotations', { body: { what: 'root' } })
    expect(data.authorities.map(({ state, isVouchedFor }) => [state, isVouchedFor])).toEqual([
      ['former', true],
      ['issuing', true],
    ])
    const bundle = controller.caPem
    expect(blocks(bundle).filter(({ subject, issuer }) => subject === issuer)).toHaveLength(2)
    const now = controller.clock.now()
    const served = controller.tls().cert
    expect(served).not.toBe(serverBefore)
    expect(blocks(served)[0]?.publicKey.export({ type: 'spki', format: 'pem' })).toBe(
      blocks(serverBefore)[0]?.publicKey.export({ type: 'spki', format: 'pem' }),
    )
    expect(verifies(before, served, 'sslserver', now)).toBe(true)
    expect(verifies(bundle, served, 'sslserver', now)).toBe(true)

    // Asked in the wake of the change.
    await expect.poll(async () => (await pki.call('GET /pki')).data.authorities.at(-1)?.askedAt).not.toBe(null)
    expect((await device.call('GET /current-api-session')).data).toMatchObject({ isCertExtendRequested: true })
    expect((await pki.call('GET /pki')).data.progress?.identities).toEqual({ renewed: 0, outstanding: 2 })
    const extended = await extend(device)
    expect(verifies(before, extended.cert, 'sslclient', now)).toBe(true)
    const [newRoot] = blocks(extended.ca).filter(
      ({ subject, issuer }) => subject === issuer && !before.includes(subject),
    )
    expect(newRoot).toBeDefined()
    expect((await pki.call('GET /pki')).data.progress?.identities).toEqual({ renewed: 1, outstanding: 1 })
    expect((await pki.call('GET /pki/outstanding')).data).toMatchObject([{ type: 'identities', name: 'phone' }])

    // A new device, by the new authority; the one that slept logs in with what it has.
    const third = await controller.enroll('tablet')
    await third.call('GET /current-identity')
    await controller.elapse(300 * DAY_MS)
    await untouched.call('GET /current-identity')

    // The old one ends when it was decided.
    await controller.elapse(101 * DAY_MS)
    expect((await (await pkiOf(controller)).call('GET /pki')).data.authorities[0]?.state).toBe('ended')
    expect(blocks(controller.caPem).map(({ subject }) => subject)).not.toContain(blocks(before)[0]?.subject)
    await expect(untouched.call('GET /current-identity')).rejects.toMatchObject({ status: 401 })
    await controller.close()
  })

  it('is taken up by every process over the storage, and by the next start', async () => {
    const storage = memoryStorage()
    const one = await createTestController({ storage })
    const pki = await pkiOf(one)
    await pki.call('POST /pki/rotations', { body: { what: 'root' } })
    const device = await one.enroll('laptop')
    await pki.call('POST /pki/rotations', { body: { what: 'signing' } })
    await pki.call('POST /pki/rotations', { body: { what: 'server', voidsEnrollments: true } })
    expect((await pki.call('GET /pki')).data.authorities).toHaveLength(3)
    const again = await one.fork()
    expect(again.tls()).toEqual(one.tls())
    expect(again.caPem).toBe(one.caPem)
    const there = await again.enroll('phone')
    await there.call('GET /current-identity')
    await device.call('GET /current-identity')
  })
})

describe('a root that ran out', () => {
  it('is followed by another one, by which certificates of before log in again for as long as is said', async () => {
    const now = Date.UTC(2026, 0, 1)
    const controller = await createTestController({ now, pki: await shortRoot({ now, lifeMs: DAY_MS }) })
    const device = await controller.enroll('laptop')
    await device.call('GET /current-identity')
    await controller.elapse(2 * DAY_MS)
    await expect(device.call('GET /current-identity')).rejects.toMatchObject({ status: 401 })

    const pki = await pkiOf(controller)
    await expect(pki.call('POST /pki/rotations', { body: { what: 'root' } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('keepUntil'),
    })
    const keepUntil = new Date(controller.clock.now() + 30 * DAY_MS).toISOString()
    const { data } = await pki.call('POST /pki/rotations', { body: { what: 'root', keepUntil } })
    expect(data.authorities.map(({ state, isVouchedFor }) => [state, isVouchedFor])).toEqual([
      ['former', true],
      ['issuing', false],
    ])
    // Nobody enrolls again: the certificate is the one of before.
    await device.call('GET /current-identity')
    const { ca } = await extend(device)
    const at = controller.clock.now()
    expect(verifies(ca, controller.tls().cert, 'sslserver', at)).toBe(true)
    await controller.close()
  })
})

describe('keys that are changed again and again', () => {
  it('are bounded: sixteen authorities may be good at once, and twenty certificates of the server are kept', async () => {
    const storage = memoryStorage()
    const controller = await createTestController({ storage })
    const pki = await pkiOf(controller)
    const rotate = (what: 'server' | 'signing') => pki.call('POST /pki/rotations', { body: { what } })
    for (let count = 1; count < 16; count += 1) await rotate('signing')
    await expect(rotate('signing')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('16 authorities are good already'),
    })
    const [first] = (await pki.call('GET /pki')).data.authorities
    const goodUntil = new Date(controller.clock.now() + 1000).toISOString()
    await pki.call('PATCH /pki/authorities/{id}', { params: { id: first?.id ?? '' }, body: { goodUntil } })
    await controller.elapse(2000)
    const { data } = await rotate('signing')
    expect(data.authorities.filter(({ state }) => state !== 'ended')).toHaveLength(16)
    for (let count = 0; count < 25; count += 1) await rotate('server')
    const { items } = await storage.read((tx) => tx.collection(signingKeys).find())
    expect(items).toHaveLength(20)
    await controller.close()
  })
})

describe('a root whose key is not here', () => {
  it('announces the next one, which signs once somebody says so', async () => {
    const { caKeyPem: _, ...material } = await createPkiMaterial({
      hosts: ['localhost'],
      trustDomain: 'corp.test',
      now: Date.UTC(2026, 0, 1),
    })
    const controller = await createTestController({ pki: material })
    const pki = await pkiOf(controller)
    const device = await controller.enroll('laptop')
    const before = controller.caPem
    await expect(pki.call('POST /pki/rotations', { body: { what: 'signing' } })).rejects.toMatchObject({ status: 400 })
    const { data } = await pki.call('POST /pki/rotations', { body: { what: 'root' } })
    expect(data.authorities.map(({ state }) => state)).toEqual(['issuing', 'next'])
    expect(verifies(before, controller.tls().cert, 'sslserver', controller.clock.now())).toBe(true)
    await expect.poll(async () => (await pki.call('GET /pki')).data.progress?.identities.outstanding).toBe(1)
    const { ca } = await extend(device)
    expect(blocks(ca).filter(({ subject, issuer }) => subject === issuer)).toHaveLength(2)
    const { data: learnt } = await pki.call('GET /pki')
    expect(learnt.progress?.identities).toEqual({ renewed: 1, outstanding: 0 })

    const id = learnt.authorities[1]?.id ?? ''
    await pki.call('PATCH /pki/authorities/{id}', { params: { id }, body: { issues: true } })
    expect(verifies(ca, controller.tls().cert, 'sslserver', controller.clock.now())).toBe(true)
    expect(verifies(before, controller.tls().cert, 'sslserver', controller.clock.now())).toBe(false)
    await controller.close()
  })
})

describe('the key of the server', () => {
  it('is not changed under outstanding enrollments unless somebody says so; one-time passwords and sessions survive', async () => {
    const controller = await createTestController()
    const pki = await pkiOf(controller)
    await controller.enroll('laptop')
    const app = await controller.totp('laptop')
    const { id } = (
      await controller.admin.call('POST /identities', {
        body: { name: 'invited', type: 'Device', isAdmin: false, enrollment: { ott: true } },
      })
    ).data
    await expect(pki.call('POST /pki/rotations', { body: { what: 'server' } })).rejects.toMatchObject({
      message: expect.stringContaining('1 outstanding enrollments'),
    })
    const before = controller.tls()
    await pki.call('POST /pki/rotations', { body: { what: 'server', voidsEnrollments: true } })
    expect(controller.tls().key).not.toBe(before.key)
    await pki.call('POST /pki/rotations', { body: { what: 'root' } })
    expect(await app.code()).toMatch(/^\d{6}$/)
    await controller.as('laptop').call('GET /current-identity/mfa')
    expect(id).not.toBe('')
    await controller.close()
  })
})

describe('keys that are held elsewhere', () => {
  const now = Date.UTC(2026, 0, 1)

  it('change by a key store of the host, which alone has them', async () => {
    const material = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'corp.test', now })
    const held = new Map<string, string>()
    const controller = await createTestController({
      pki: {
        caPem: material.caPem,
        caKey: signerOf(material.caKeyPem),
        signingCertPem: material.signingCertPem,
        signingKey: signerOf(material.signingKeyPem),
        serverCertPem: material.serverCertPem,
        serverKeyPem: material.serverKeyPem,
      },
      keyStore: {
        create: async (purpose) => {
          const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
          const reference = `kms:${purpose}/${held.size}`
          held.set(reference, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
          return { reference, publicKey: publicKey.export({ type: 'spki', format: 'der' }) }
        },
        open: async (reference) => signerOf(held.get(reference) ?? ''),
      },
    })
    const pki = await pkiOf(controller)
    const device = await controller.enroll('laptop')
    await pki.call('POST /pki/rotations', { body: { what: 'root' } })
    expect([...held.keys()]).toEqual(['kms:root/0', 'kms:signing/1'])
    const { cert } = await extend(device)
    expect(verifies(material.caPem, cert, 'sslclient', now)).toBe(true)
    await controller.close()
  })

  it('do not change where new ones could not be found again', async () => {
    const { signingKeyPem, ...material } = await createPkiMaterial({
      hosts: ['localhost'],
      trustDomain: 'corp.test',
      now,
    })
    const controller = await createTestController({ pki: { ...material, signingKey: signerOf(signingKeyPem) } })
    const pki = await pkiOf(controller)
    expect((await pki.call('GET /pki')).data.canKeepKeys).toBe(false)
    await expect(pki.call('POST /pki/rotations', { body: { what: 'root' } })).rejects.toMatchObject({
      message: expect.stringContaining('cannot be kept'),
    })
    await controller.close()
  })
})
