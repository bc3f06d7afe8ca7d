import { X509Certificate } from 'node:crypto'
import { enrollDevice } from 'portcullis/sdk'
import type { DeviceCertificate } from '../device.ts'
import { deviceFiles, readFileIfAny, writePrivateFile } from '../files.ts'
import type { Tick } from '../story.ts'
import type { Company } from './create-network.ts'

/**
 * Enrolls an identity with its one-time token, as its device would: it checks that the controller signed the token, makes a key
 * that never leaves it, and gets a certificate. An identity that was enrolled by an earlier run keeps the certificate in its files.
 */
export async function enrollIdentity(company: Company, name: string, tick: Tick): Promise<DeviceCertificate> {
  const { certFile, keyFile } = deviceFiles(name)
  const jwt = await enrollmentJwt(company, name)
  if (jwt === undefined) {
    const [cert, key] = await Promise.all([readFileIfAny(certFile), readFileIfAny(keyFile)])
    if (cert === undefined || key === undefined)
      throw new Error(`${name} is enrolled, but ${certFile} or its key is gone`)
    tick(`${name} is enrolled since an earlier run: ${certFile}, ${keyFile}`)
    return { cert, key }
  }
  const { controller, cert, key } = await enrollDevice({ jwt })
  tick(`enrollment JWT verified with the key of ${controller}`)
  tick('P-256 key and certificate signing request made on the device')
  await writePrivateFile(keyFile, key)
  await writePrivateFile(certFile, cert)
  tick(`certificate issued for ${new X509Certificate(cert).subjectAltName}: ${certFile}, ${keyFile}`)
  return { cert, key }
}

/** The enrollment JWT that an admin hands to a device; `undefined` once it was used. */
export async function enrollmentJwt({ management, identities }: Company, name: string): Promise<string | undefined> {
  const { data } = await management.call('GET /identities/{id}', { params: { id: identities.get(name) ?? name } })
  return data.enrollment.ott?.jwt
}
