import type * as x509 from '@peculiar/x509'
import type { Certificate } from '../certificates/certificate.ts'
import type { Library } from '../encoding/library.ts'
import { uriName } from '../names/general-name.ts'

/**
 * Everything that a client certificate says beside its subject and key: it proves its key to servers, under the single
 * alternative name `spiffeId`, which is critical where the subject is empty (RFC 5280 section 4.2.1.6).
 */
export function clientExtensions(
  { x509 }: Library,
  { subject, spiffeId, signing }: { subject: x509.Name; spiffeId: string; signing: Certificate },
): x509.Extension[] {
  const { digitalSignature, keyEncipherment, dataEncipherment } = x509.KeyUsageFlags
  const { subjectKeyId } = signing.extensions
  const isNameless = subject.toJSON().length === 0
  return [
    new x509.KeyUsagesExtension(digitalSignature | keyEncipherment | dataEncipherment, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ...(subjectKeyId === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(subjectKeyId)]),
    new x509.SubjectAlternativeNameExtension([uriName(spiffeId)], isNameless),
  ]
}
