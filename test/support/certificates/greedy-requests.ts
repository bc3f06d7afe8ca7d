import * as x509 from '@peculiar/x509'
import { authorityExtensions, createCsrPem, purpose } from './certificates.ts'
import { octetString } from './der.ts'
import { excludedNames } from './name-constraints.ts'

const asking = async (...extensions: x509.Extension[]) => createCsrPem({ extensions })
const askingName = (type: x509.GeneralNameType, value: string) =>
  asking(new x509.SubjectAlternativeNameExtension([{ type, value }], true))

/** Requests that want more than they get: each must be answered with a plain client certificate. */
export const greedyRequests: readonly (readonly [string, () => Promise<string>])[] = [
  ['to be an authority', () => asking(...authorityExtensions())],
  ['to be an authority with a path length', () => asking(...authorityExtensions(5))],
  ['to sign certificates', () => asking(new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true))],
  ['to be a server', () => asking(purpose(x509.ExtendedKeyUsage.serverAuth))],
  ['to sign code', () => asking(purpose(x509.ExtendedKeyUsage.codeSigning))],
  ['any purpose', () => asking(purpose('2.5.29.37.0'))],
  ['the controller’s host name', () => askingName('dns', 'ctrl.example.com')],
  ['a wildcard host name', () => askingName('dns', '*')],
  ['an address', () => askingName('ip', '127.0.0.1')],
  ['a mail address', () => askingName('email', 'admin@example.com')],
  ['the SPIFFE id of another identity', () => askingName('url', 'spiffe://example.org/identity/admin')],
  ['the key identifier of the authority', () => asking(new x509.SubjectKeyIdentifierExtension('00'.repeat(20)))],
  ['name constraints', () => asking(excludedNames({ dns: 'example.com' }))],
  ['an unknown critical extension', () => asking(new x509.Extension('1.2.3.4.5', true, Uint8Array.of(5, 0)))],
  ['a challenge password', () => createCsrPem({ attributes: [new x509.ChallengePasswordAttribute('secret')] })],
  [
    'an attribute of garbage',
    () => createCsrPem({ attributes: [new x509.Attribute('1.2.3.4.5', [octetString(Uint8Array.of(0x30, 0x80))])] }),
  ],
  ['the subject of the root', () => createCsrPem({ subject: 'CN=example.org root CA' })],
  ['the subject of an administrator', () => createCsrPem({ subject: 'CN=admin, CN=root' })],
  ['no subject', () => createCsrPem({ subject: '' })],
]
