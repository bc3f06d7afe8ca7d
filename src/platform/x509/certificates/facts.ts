import type { CertificateFacts } from '../../../ports/pki.ts'
import { toHex } from '../../encoding/hex.ts'
import type { Library } from '../encoding/library.ts'
import { hostTextOf } from '../names/host-text.ts'
import { commonNameOf } from '../names/name.ts'
import type { Certificate } from './certificate.ts'

/** Lower-case hexadecimal SHA-1 of the DER form, the field's fingerprint of a certificate. */
export async function fingerprintOf({ crypto, native }: Library, { der }: Pick<Certificate, 'der'>): Promise<string> {
  return toHex(native?.sha1(der) ?? new Uint8Array(await crypto.subtle.digest('SHA-1', der)))
}

const KNOWN_FACTS = new WeakMap<Certificate, CertificateFacts>()

/** PEM text of certificates, one block after the other. */
export function pemOf(...certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('')
}

/** What there is to know of a certificate, worked out once for each that was read. */
export async function certificateFacts(library: Library, certificate: Certificate): Promise<CertificateFacts> {
  const known = KNOWN_FACTS.get(certificate)
  if (known !== undefined) return known
  const facts = {
    fingerprint: await fingerprintOf(library, certificate),
    pem: certificate.pem,
    der: certificate.der,
    commonName: commonNameOf(certificate.subject),
    subject: new library.x509.Name(certificate.subject).toString(),
    uris: altNamesOf(certificate, 'uri'),
    emails: altNamesOf(certificate, 'email'),
    hosts: certificate.extensions.altNames.flatMap(hostTextOf),
    publicKey: certificate.publicKey.encoded,
    isAuthority: certificate.extensions.isAuthority,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
  }
  KNOWN_FACTS.set(certificate, facts)
  return facts
}

function altNamesOf({ extensions }: Certificate, kind: 'uri' | 'email'): string[] {
  return extensions.altNames.flatMap((name) => (name.kind === kind ? name.value : []))
}
