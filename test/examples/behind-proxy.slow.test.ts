import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient, createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { describe, expect, it } from 'vitest'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { PASSWORD, startExample, stopped } from './support/started.ts'

describe('examples/behind-proxy', () => {
  it('knows devices by the certificate that the proxy saw, and nobody by a header of their own', async () => {
    const { child, folder, baseUrl, fetch } = await startExample('behind-proxy')
    const ca = await readFile(join(folder, 'pki/ca.pem'), 'utf8')
    const management = createManagementClient({ baseUrl, fetch })
    const credentials = { query: { method: 'password' as const }, body: { username: 'admin', password: PASSWORD } }
    const admin = management.withToken((await management.call('POST /authenticate', credentials)).data.token)
    const body = { name: 'laptop', type: 'Default' as const, isAdmin: false, enrollment: { ott: true } }
    const { id } = (await admin.call('POST /identities', { body })).data
    const token = (await admin.call('GET /identities/{id}', { params: { id } })).data.enrollment.ott?.token ?? ''
    const key = newKey()
    const nobody = createClient({ baseUrl, fetch })
    const { cert } = (
      await nobody.call('POST /enroll/ott', { query: { token }, body: { clientCsr: signingRequest(key) } })
    ).data

    const logIn = { query: { method: 'cert' as const }, body: {} }
    const device = createClient({ baseUrl, fetch: httpsFetch({ ca, cert, key }) })
    expect((await device.call('POST /authenticate', logIn)).data.identity?.id).toBe(id)

    const forged = createClient({
      baseUrl,
      fetch: (request) => {
        request.headers.set('x-client-cert', encodeURIComponent(cert))
        return fetch(request)
      },
    })
    await expect(forged.call('POST /authenticate', logIn)).rejects.toMatchObject({ status: 401 })
    expect(await stopped(child)).toBe(0)
  })
})
