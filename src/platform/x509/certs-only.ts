import type { X509Certificate } from '@peculiar/x509'
import type { Library } from './library.ts'

/**
 * A PKCS#7 that carries certificates and nothing else, DER: a SignedData without content and signers (RFC 5652, 5.1). The
 * content must be absent rather than empty, because clients on mbedTLS take what follows its type for the certificates.
 */
export function writeCertsOnly({ cms, asn1, schema }: Library, certificates: readonly X509Certificate[]): Uint8Array {
  // DER wants the members of a SET OF in the order of their bytes, and strict readers insist.
  const ordered = [...certificates].sort((one, other) => compareBytes(one.rawData, other.rawData))
  const choices = ordered.map(
    ({ rawData }) => new cms.CertificateChoices({ certificate: schema.AsnConvert.parse(rawData, asn1.Certificate) }),
  )
  const signedData = new cms.SignedData({
    version: cms.CMSVersion.v1,
    encapContentInfo: new cms.EncapsulatedContentInfo({ eContentType: cms.id_data }),
    certificates: new cms.CertificateSet(choices),
  })
  const content = schema.AsnConvert.serialize(signedData)
  return new Uint8Array(schema.AsnConvert.serialize(new cms.ContentInfo({ contentType: cms.id_signedData, content })))
}

function compareBytes(one: ArrayBuffer, other: ArrayBuffer): number {
  const left = new Uint8Array(one)
  const right = new Uint8Array(other)
  const at = left.findIndex((byte, index) => byte !== right[index])
  return at === -1 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1)
}
