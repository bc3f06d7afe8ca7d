import type { Certificate } from '../certificates/certificate.ts'
import type { Library } from '../encoding/library.ts'
import { DER_TAGS, writeDer } from '../encoding/write-der.ts'
import { uriName } from '../names/general-name.ts'

/** What differs from one client certificate to the next. */
interface ClientNames {
  readonly spiffeId: string
  /** Whether the subject is empty: the alternative name is then critical (RFC 5280 section 4.2.1.6). */
  readonly isNameless: boolean
}

/** 2.5.29.17 as an element. */
const SUBJECT_ALT_NAME = writeDer(DER_TAGS.objectIdentifier, Uint8Array.of(0x55, 0x1d, 0x11))
const TRUE = writeDer(DER_TAGS.boolean, Uint8Array.of(0xff))

/**
 * Prepares everything that the client certificates of `signing` say beside subject and key: they prove their keys to servers,
 * under a single alternative name. All but that name is the same in each, and is written once. DER, each extension.
 */
export function clientExtensions({ x509 }: Library, signing: Certificate): (names: ClientNames) => Uint8Array[] {
  const { digitalSignature, keyEncipherment, dataEncipherment } = x509.KeyUsageFlags
  const { subjectKeyId } = signing.extensions
  const same = [
    new x509.KeyUsagesExtension(digitalSignature | keyEncipherment | dataEncipherment, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ...(subjectKeyId === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(subjectKeyId)]),
  ].map(({ rawData }) => new Uint8Array(rawData))
  return ({ spiffeId, isNameless }) => [...same, altName(spiffeId, isNameless)]
}

function altName(spiffeId: string, isCritical: boolean): Uint8Array {
  const { octetString, sequence, uri } = DER_TAGS
  const names = writeDer(sequence, writeDer(uri, new TextEncoder().encode(uriName(spiffeId).value)))
  return writeDer(sequence, SUBJECT_ALT_NAME, ...(isCritical ? [TRUE] : []), writeDer(octetString, names))
}
