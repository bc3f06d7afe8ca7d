import { X509Certificate } from 'node:crypto'
import { createClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import type { DeviceCertificate } from '../device.ts'
import { verifyEnrollmentToken } from '../enrollment-token.ts'
import { deviceFiles, readFileIfAny, writePrivateFile } from '../files.ts'
import { createSigningRequest } from '../signing-request.ts'
import type { Tick } from '../story.ts'
import type { Company } from './create-network.ts'

/**
 * Enrolls an identity with its one-time token, as its device would: verify the token, make a key, get a certificate.
 * An identity that was enrolled by an earlier run keeps the certificate in its files.
 */
export async function enrollIdentity(
  company: Company,
  name: string,
  ca: string,
  tick: Tick,
): Promise<DeviceCertificate> {
  const { certFile, keyFile } = deviceFiles(name)
  const jwt = await enrollmentJwt(company, name)
  if (jwt === undefined) {
    const [cert, key] = await Promise.all([readFileIfAny(certFile), readFileIfAny(keyFile)])
    if (cert === undefined || key === undefined)
      throw new Error(`${name} is enrolled, but ${certFile} or its key is gone`)
    tick(`${name} is enrolled since an earlier run: ${certFile}, ${keyFile}`)
    return { cert, key }
  }
  const { issuer, token, method, expiresAt } = await verifyEnrollmentToken(jwt, ca)
  tick(`enrollment JWT verified with the key of ${issuer}: method ${method}, good until ${expiresAt.toISOString()}`)
  const { key, csr } = await createSigningRequest(name)
  tick('P-256 key and certificate signing request made on the device')
  const { data } = await createClient({ baseUrl: issuer, fetch: httpsFetch({ ca }) }).call('POST /enroll/ott', {
    query: { token },
    body: { clientCsr: csr },
  })
  await writePrivateFile(keyFile, key)
  await writePrivateFile(certFile, data.cert)
  tick(`certificate issued for ${new X509Certificate(data.cert).subjectAltName}: ${certFile}, ${keyFile}`)
  return { cert: data.cert, key }
}

/** The enrollment JWT that an admin hands to a device; `undefined` once it was used. */
export async function enrollmentJwt({ management, identities }: Company, name: string): Promise<string | undefined> {
  const { data } = await management.call('GET /identities/{id}', { params: { id: identities.get(name) ?? name } })
  return data.enrollment.ott?.jwt
}
