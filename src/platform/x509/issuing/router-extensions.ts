import type * as x509 from '@peculiar/x509'
import type { Certificate } from '../certificates/certificate.ts'
import type { Library } from '../encoding/library.ts'
import { uriName } from '../names/general-name.ts'

interface RouterNames {
  readonly names: x509.JsonGeneralNames
  readonly spiffeId: string
  readonly signing: Certificate
}

/** Everything that a router's certificate says beside its subject and key; it proves its key to clients or to servers. */
export function routerExtensions(
  { x509 }: Library,
  purpose: 'client' | 'server',
  { names, spiffeId, signing }: RouterNames,
): Uint8Array[] {
  const { digitalSignature, keyEncipherment, dataEncipherment } = x509.KeyUsageFlags
  const { clientAuth, serverAuth } = x509.ExtendedKeyUsage
  const { subjectKeyId } = signing.extensions
  return [
    new x509.KeyUsagesExtension(digitalSignature | keyEncipherment | dataEncipherment, true),
    new x509.ExtendedKeyUsageExtension([purpose === 'client' ? clientAuth : serverAuth]),
    ...(subjectKeyId === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(subjectKeyId)]),
    new x509.SubjectAlternativeNameExtension([...names, uriName(spiffeId)]),
  ].map(({ rawData }) => new Uint8Array(rawData))
}
