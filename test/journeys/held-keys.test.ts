import { verify, X509Certificate } from 'node:crypto'
import { createPkiMaterial, type PkiMaterial } from 'portcullis'
import { serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { openTls } from '../adapters/node/tls-client.ts'
import { adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { signerOf, webCryptoKeyOf } from '../support/certificates/held-keys.ts'
import { opensslOutput } from '../support/certificates/openssl.ts'
import { mountOf } from '../support/mount.ts'
import { bearing, openIdTokens } from '../support/openid.ts'

const now = Date.now()
let material: PkiMaterial
let certificates: Pick<PkiMaterial, 'caPem' | 'signingCertPem' | 'serverCertPem'>
beforeAll(async () => {
  material = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'held.test', now })
  const { caPem, signingCertPem, serverCertPem } = material
  certificates = { caPem, signingCertPem, serverCertPem }
})

function claimsOf(jwt: string, certificate: string) {
  const [head = '', claims = '', signature = ''] = jwt.split('.')
  const key = { key: new X509Certificate(certificate).publicKey, dsaEncoding: 'ieee-p1363' } as const
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}

describe('a controller whose keys are held elsewhere', () => {
  it('enrolls and admits devices as any other', async () => {
    const pki = {
      ...certificates,
      signingKey: signerOf(material.signingKeyPem),
      serverKey: await webCryptoKeyOf(material.serverKeyPem, 'P-256'),
    }
    const controller = await createTestController({ now, pki })
    const mounted = mountOf(controller)
    const admin = await adminOf(mounted)
    const id = await create(admin, '/identities', {
      name: 'a',
      type: 'Device',
      isAdmin: false,
      enrollment: { ott: true },
    })
    const { jwt } = (await read(admin, `/identities/${id}`)).enrollment.ott
    const { jti } = claimsOf(jwt, material.serverCertPem)
    const key = newKey()
    const answer = await foreignClient(mounted, CLIENT).send('POST', `/enroll?method=ott&token=${jti}`, {
      body: signingRequest(key),
      headers: { 'content-type': 'text/plain' },
    })
    const { cert } = answer.body.data
    const verified = opensslOutput(
      ['verify', '-purpose', 'sslclient', '-CAfile', 'ca.pem', '-untrusted', 'chain.pem', 'chain.pem'],
      { 'ca.pem': material.caPem, 'chain.pem': cert },
    )
    expect(verified).toContain('OK')
    const device = foreignClient(mounted, CLIENT, undefined, { cert, key: '' })
    expect((await device.post('/authenticate?method=cert', {})).status).toBe(200)

    expect(() => controller.tls()).toThrow(/held elsewhere/)
    const tls = () => ({ cert: material.serverCertPem, key: material.serverKeyPem })
    const server = await serve({ fetch: controller.fetch, tls }, { port: 0 })
    const socket = await openTls(server.port)
    claimsOf(jwt, String(socket.getPeerX509Certificate()))
    socket.destroy()
    await server.close({ graceMs: 0 })
    await mounted.dispose()
  })

  it('says so when a key is of another certificate', async () => {
    const signingKey = signerOf(material.serverKeyPem)
    const { serverKeyPem } = material
    await expect(createTestController({ now, pki: { ...certificates, signingKey, serverKeyPem } })).rejects.toThrow(
      /^signingKey: does not match its certificate$/,
    )
  })
})

describe('a renewed server certificate', () => {
  it('signs from then on; what the one before signed stays good, and a wrong one changes nothing', async () => {
    const controller = await createTestController({ now, pki: material })
    const mounted = mountOf(controller)
    const { access_token: early } = await openIdTokens(mounted)
    const next = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'held.test', now })
    await expect(
      controller.replaceServerCertificate({ serverCertPem: next.serverCertPem, serverKeyPem: material.serverKeyPem }),
    ).rejects.toThrow(/^serverKeyPem: does not match its certificate$/)
    expect(controller.tls()).toEqual({ cert: material.serverCertPem, key: material.serverKeyPem })

    await controller.replaceServerCertificate(next)
    expect(controller.tls()).toEqual({ cert: next.serverCertPem, key: next.serverKeyPem })
    const [shown] = await read(await adminOf(mounted), '/controllers')
    expect(next.serverCertPem.startsWith(shown.certPem)).toBe(true)
    const { access_token: late } = await openIdTokens(mounted)
    claimsOf(early, material.serverCertPem)
    claimsOf(late, next.serverCertPem)
    for (const token of [early, late]) expect((await bearing(mounted, token)).status).toBe(200)
    await controller.close()
  })
})
