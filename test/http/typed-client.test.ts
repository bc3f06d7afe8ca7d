import { createManagementClient } from 'portcullis/client'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { issueAuthority, pemOf } from '../support/certificates/certificates.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const answering = (body: string, init: ResponseInit) =>
  createManagementClient({ baseUrl: 'https://controller.test', fetch: async () => new Response(body, init) })

describe('answers that are not wrapped', () => {
  it('are the text of a document, of certificates and of a token', async () => {
    const { management } = await createTestController(await withSharedPki())
    const params = { id: 'edge-management' }
    expect(await management.call('GET /specs/{id}/spec', { params })).toMatch(/^"openapi": /)
    expect(await management.call('GET /.well-known/est/cacerts')).toMatch(/^MII/)
    const token = await answering('a.b.c', { headers: { 'content-type': 'application/jwt' } })
    expect(await token.call('GET /cas/{id}/jwt', { params })).toBe('a.b.c')
  })

  it('are JSON where the operation serves JSON', async () => {
    const { client } = await createTestController(await withSharedPki())
    expect(await client().call('GET /enroll/jwks')).toMatchObject({ keys: [{ use: 'sig' }] })
  })

  it('are the bytes of an image', async () => {
    const controller = await createTestController(await withSharedPki())
    const admin = await controller.asAdmin()
    await admin.call('POST /current-identity/mfa')
    const png = await admin.call('GET /current-identity/mfa/qr-code')
    expect(String.fromCharCode(...png.subarray(1, 4))).toBe('PNG')
  })
})

it.each([
  [502, 'Bad Gateway'],
  [200, '<!doctype html>'],
])('an answer of %i that is no JSON tells its status', async (status, body) => {
  const call = answering(body, { status, headers: { 'content-type': 'text/html' } }).call('GET /version')
  await expect(call).rejects.toMatchObject({
    name: 'ApiError',
    status,
    message: `${status}: the answer is no JSON: something else answered than a controller`,
  })
})

it.each(['', '.', '..'])('a path parameter %j is refused before it names another operation', async (id) => {
  const { management } = await createTestController(await withSharedPki())
  const call = management.call('DELETE /services/{id}', { params: { id } })
  await expect(call).rejects.toThrow('DELETE /services/{id} needs params.id')
})

it('a call without a route is refused in words', async () => {
  const { management } = await createTestController(await withSharedPki())
  await expect(management.call(undefined as never)).rejects.toThrow("call takes a route, such as 'GET /services'")
})

it('a body that is too large is told by its code, though it comes without an envelope', async () => {
  const controller = await createTestController(await withSharedPki())
  const admin = await controller.asAdmin()
  const call = admin.call('POST /services', { body: { name: 'web', tags: { note: 'x'.repeat(2 ** 20) } } })
  await expect(call).rejects.toMatchObject({ status: 413, code: 'REQUEST_ENTITY_TOO_LARGE', requestId: undefined })
})

it('a refusal tells its code, and the request by which the log of the controller knows it', async () => {
  const controller = await createTestController(await withSharedPki())
  const admin = await controller.asAdmin()
  const call = admin.call('GET /services/{id}', { params: { id: 'nowhere' } })
  await expect(call).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND', requestId: expect.stringMatching(/./) })
})

it('a certificate travels as the text that it is', async () => {
  const controller = await createTestController(await withSharedPki())
  const admin = await controller.asAdmin()
  const pem = pemOf(await issueAuthority())
  const { data } = await admin.call('POST /cas', {
    body: {
      name: 'third party',
      certPem: pem,
      identityRoles: [],
      isAuthEnabled: true,
      isAutoCaEnrollmentEnabled: false,
      isOttCaEnrollmentEnabled: true,
    },
  })
  const call = admin.call('POST /cas/{id}/verify', { params: { id: data.id }, body: pem })
  await expect(call).rejects.toMatchObject({ status: 400, code: 'INVALID_COMMON_NAME' })
})
