import { X509Certificate } from 'node:crypto'
import { expect, it } from 'vitest'
import { opensslOutput } from '../../support/certificates/openssl.ts'
import { foreignClient } from './foreign-client.ts'
import type { Mount } from './mount.ts'

/** The facts that anybody may read. */
export function describeVersion(open: Mount): void {
  it.each([
    '/',
    '/version',
    '/edge/client/v1',
    '/edge/client/v1/',
    '/edge/client/v1/version',
    '/edge/management/v1',
    '/edge/management/v1/version',
    '/edge/v1/version',
    '//version',
    '/version/',
    '/edge/client/v1//version/',
  ])('%s shows the version of the controller', async (path) => {
    const mounted = await open({ reportedVersion: 'v9.8.7', address: 'ctrl.example.org:443' })
    const answer = await foreignClient(mounted, '').get(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    const client = {
      v1: { apiBaseUrls: ['https://ctrl.example.org:443/edge/client/v1'], path: '/edge/client/v1', version: 'v1' },
    }
    const base = '/edge/management/v1'
    expect(answer.body.data).toMatchObject({
      version: 'v9.8.7',
      capabilities: ['OIDC_AUTH', 'OIDC_AUTH_WITH_CSR'],
      apiVersions: {
        edge: client,
        'edge-client': client,
        'edge-management': { v1: { apiBaseUrls: [`https://ctrl.example.org:443${base}`], path: base, version: 'v1' } },
        'edge-oidc': { v1: { apiBaseUrls: ['https://ctrl.example.org:443/oidc'], path: '/oidc', version: 'v1' } },
      },
    })
    const { buildDate } = answer.body.data
    expect(buildDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    expect(Date.parse(buildDate)).toBeGreaterThan(Date.parse('2026-01-01T00:00:00Z'))
  })

  it('lists exactly what is served, each below a path that answers', async () => {
    const mounted = await open()
    const anybody = foreignClient(mounted, '')
    const { apiVersions } = (await anybody.get('/version')).body.data
    const paths = Object.values<{ v1: { path: string } }>(apiVersions).map(({ v1 }) => v1.path)
    expect(Object.keys(apiVersions).sort()).toEqual([
      'edge',
      'edge-client',
      'edge-management',
      'edge-oidc',
      'fabric',
      'health-checks',
      'portcullis',
    ])
    const asked = ['', '/version', '/.well-known/openid-configuration', '/routers', '/trust-anchors']
    for (const path of paths) {
      // The provider answers under the host of its issuer only.
      const sent = { headers: { host: 'controller.test:1280' } }
      const answers = await Promise.all(asked.map((below) => anybody.send('GET', `${path}${below}`, sent)))
      const statuses = answers.map(({ status }) => status)
      // Paths that need a session are there as well.
      expect(statuses.some((status) => status === 200 || status === 401)).toBe(true)
    }
    const closed = foreignClient(await open({ oidc: false }), '')
    const { data } = (await closed.get('/version')).body
    expect(data.apiVersions).not.toHaveProperty('edge-oidc')
    expect((await closed.get('/oidc/.well-known/openid-configuration')).status).toBe(404)
  })

  it('is the same text under every path', async () => {
    const mounted = await open()
    const paths = ['/version', '/edge/client/v1/version', '/edge/management/v1/version', '/edge/management/v1']
    const texts = await Promise.all(paths.map(async (path) => (await foreignClient(mounted, '').get(path)).text))
    expect(new Set(texts).size).toBe(1)
    expect(texts[0]).toMatch(/\}\n$/)
  })

  it.each([
    '/.well-known/est/cacerts',
    '//.well-known/est/cacerts',
    '/edge/client/v1/.well-known/est/cacerts',
    '/edge/management/v1/.well-known/est/cacerts',
  ])('%s serves the trust bundle as base64 PKCS#7', async (path) => {
    const mounted = await open()
    const { status, headers, text } = await foreignClient(mounted, '').get(path)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/pkcs7-mime')
    expect(headers.get('content-transfer-encoding')).toBe('base64')
    expect(text).toMatch(/^([A-Za-z0-9+/]{64}\n)*[A-Za-z0-9+/]{1,64}={0,2}$/)
    const der = new Uint8Array(Buffer.from(text, 'base64'))
    const args = ['pkcs7', '-inform', 'DER', '-in', 'store.p7', '-print_certs']
    expect(fingerprints(opensslOutput(args, { 'store.p7': der }))).toEqual(fingerprints(mounted.controller.caPem))
  })

  it('serves the trust bundle in its one form to who asks for JSON, as generated clients do', async () => {
    const mounted = await open()
    const ask = (accept: string) =>
      foreignClient(mounted, '').send('GET', '/.well-known/est/cacerts', { headers: { accept } })
    const answer = await ask('application/json')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pkcs7-mime'])
    expect((await ask('image/png')).status).toBe(406)
  })
}

function fingerprints(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block).fingerprint256).sort()
}
