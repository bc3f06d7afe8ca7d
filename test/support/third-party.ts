import * as x509 from '@peculiar/x509'
import { create, type ForeignClient, read } from '../contract/http/foreign-client.ts'
import {
  clientExtensions,
  createKeys,
  type Issued,
  issue,
  issueAuthority,
  keyPemOf,
  pemOf,
} from './certificates/certificates.ts'

export { now } from './certificates/certificates.ts'

/** The flags of a CA that is trusted with everything. */
export const TRUSTED = {
  isAuthEnabled: true,
  isAutoCaEnrollmentEnabled: true,
  isOttCaEnrollmentEnabled: true,
  identityRoles: ['third-party'],
}

export const CLAIM = {
  location: 'COMMON_NAME',
  matcher: 'ALL',
  matcherCriteria: '',
  parser: 'NONE',
  parserCriteria: '',
  index: 0,
}

/** A root authority of a third party. */
export const newAuthority = (subject: string): Promise<Issued> => issueAuthority({ subject: `CN=${subject}` })

/** A client certificate of an authority with its key, as a TLS client holds them. */
export async function clientOf(authority: Issued, subject: string, names: x509.JsonGeneralNames = []) {
  const keys = await createKeys()
  const altNames = names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]
  const extensions = [...clientExtensions(), ...altNames]
  const client = await issue({ subject: `CN=${subject}`, issuer: authority, keys, extensions })
  return { cert: pemOf(client), key: await keyPemOf(keys) }
}

/** Creates a CA and, unless told otherwise, verifies it. */
export async function registered(
  admin: ForeignClient,
  authority: Issued,
  change: Readonly<Record<string, unknown>> = {},
  isVerified = true,
): Promise<string> {
  const id = await create(admin, '/cas', { name: 'third party', certPem: pemOf(authority), ...TRUSTED, ...change })
  if (isVerified) {
    const { verificationToken } = await read(admin, `/cas/${id}`)
    const { cert } = await clientOf(authority, verificationToken)
    await admin.send('POST', `/cas/${id}/verify`, { body: cert, headers: { 'content-type': 'text/plain' } })
  }
  return id
}
