import { concatOctets, explicit, integer, type Octets, oid, sequence, set } from './der-writer.ts'
import { oids } from './oids.ts'

/** A PKCS#7 SignedData (RFC 5652) without signers that only carries the given DER certificates. */
export const writeCertificateStore = (certificates: readonly Uint8Array[]): Octets =>
  sequence(
    oid(oids.pkcs7SignedData),
    explicit(
      0,
      sequence(integer(1), set(), sequence(oid(oids.pkcs7Data)), explicit(0, concatOctets(certificates)), set()),
    ),
  )
