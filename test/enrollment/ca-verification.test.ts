import { describe, expect, it } from 'vitest'
import { expectDone, expectError } from '../contract/http/errors.ts'
import { adminOf, read } from '../contract/http/foreign-client.ts'
import { type Issued, issue, pemOf, purpose } from '../support/certificates/certificates.ts'
import { mount } from '../support/mount.ts'
import { clientOf, newAuthority, now, registered } from '../support/third-party.ts'

/** The extended key usage of a TLS server certificate (RFC 5280 section 4.2.1.12). */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'

async function unverified() {
  const admin = await adminOf(await mount({ now }))
  const authority = await newAuthority('third party')
  const id = await registered(admin, authority, {}, false)
  const verify = (caId: string, body: string) =>
    admin.send('POST', `/cas/${caId}/verify`, { body, headers: { 'content-type': 'text/plain' } })
  return { admin, authority, id, verify }
}

describe('the verification of a CA', () => {
  it('A27: succeeds with a certificate that the CA signed for its token, once', async () => {
    const { admin, authority, id, verify } = await unverified()
    const { verificationToken: token } = await read(admin, `/cas/${id}`)
    const stranger: Issued = await newAuthority('third party')
    const json = await admin.post(`/cas/${id}/verify`, { certPem: 'x' })
    const reason = 'unsupported media type "application/json", only [text/plain] are allowed'
    expectError(json, 'COULD_NOT_VALIDATE', { field: 'Content-Type', reason }, 415)
    expectError(await verify(id, ''), 'COULD_NOT_PARSE_BODY')
    expectError(await verify(id, 'hello'), 'COULD_NOT_PARSE_BODY')
    expectError(await verify(id, (await clientOf(authority, token)).key), 'EXPECTED_PEM_CERTIFICATE')
    const nonsense = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    expectError(await verify(id, nonsense), 'COULD_NOT_PARSE_DER_BLOCK')
    expectError(await verify(id, (await clientOf(authority, 'another')).cert), 'INVALID_COMMON_NAME')
    expectError(await verify(id, (await clientOf(stranger, token)).cert), 'CERTIFICATE_FAILED_VALIDATION')
    expectDone(await verify(id, (await clientOf(authority, token)).cert))
    const verified = await read(admin, `/cas/${id}`)
    // Command lines show the token of every CA.
    expect(verified).toMatchObject({ isVerified: true, verificationToken: token })
    expect((await admin.get('/cas')).body.data).toMatchObject([{ verificationToken: token }])
    expectError(await verify(id, (await clientOf(authority, token)).cert), 'CA_ALREADY_VERIFIED', undefined, 409)
    expectError(await verify(id, ''), 'CA_ALREADY_VERIFIED', undefined, 409)
    expectError(await verify('none', ''), 'NOT_FOUND')
  })

  it('does not ask what the certificate is for: command lines make one for servers', async () => {
    const { admin, authority, id, verify } = await unverified()
    const { verificationToken } = await read(admin, `/cas/${id}`)
    const proof = (issuer: Issued) =>
      issue({
        subject: `O=Proof,CN=${verificationToken}`,
        issuer,
        kind: 'P-521',
        extensions: [purpose(SERVER_AUTH)],
      })
    const stranger = await proof(await newAuthority('third party'))
    expectError(await verify(id, pemOf(stranger)), 'CERTIFICATE_FAILED_VALIDATION')
    expectDone(await verify(id, pemOf(await proof(authority))))
    expect((await read(admin, `/cas/${id}`)).isVerified).toBe(true)
  })
})
