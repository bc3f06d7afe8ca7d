import { DER_TAGS, writeDer } from './write-der.ts'

/** 1.2.840.113549.1.7.1 and .2, the content types of PKCS#7. */
const DATA = Uint8Array.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01)
const SIGNED_DATA = Uint8Array.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02)
const VERSION_1 = Uint8Array.of(1)

/**
 * A PKCS#7 that carries certificates and nothing else, DER: a SignedData without content and signers (RFC 5652, 5.1). The
 * content must be absent rather than empty, because clients on mbedTLS take what follows its type for the certificates.
 */
export function writeCertsOnly(certificates: readonly Uint8Array[]): Uint8Array {
  const { integer, objectIdentifier, sequence, set, context0 } = DER_TAGS
  // DER wants the members of a SET OF in the order of their bytes, and strict readers insist.
  const ordered = certificates.toSorted(compareBytes)
  const signedData = writeDer(
    sequence,
    writeDer(integer, VERSION_1),
    writeDer(set),
    writeDer(sequence, writeDer(objectIdentifier, DATA)),
    writeDer(context0, ...ordered),
    writeDer(set),
  )
  return writeDer(sequence, writeDer(objectIdentifier, SIGNED_DATA), writeDer(context0, signedData))
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const at = left.findIndex((byte, index) => byte !== right[index])
  return at === -1 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1)
}
