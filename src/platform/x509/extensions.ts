import type { Extension, AuthorityKeyIdentifier as KeyIdentifierStructure } from '@peculiar/asn1-x509'
import { toHex } from '../../base/bytes.ts'
import { type Library, parseDer } from './asn1-structures.ts'
import { type GeneralName, readGeneralName } from './distinguished-names.ts'
import { type NameConstraints, readNameConstraints } from './name-constraints.ts'

/** The permissions and names that the extensions of a certificate hold, RFC 5280 section 4.2. */
export interface Extensions {
  readonly isAuthority: boolean
  /** Authorities that may stand between this authority and a leaf. */
  readonly pathLength: number
  /** Key usage: absent, or it includes signing certificates. */
  readonly maySignCertificates: boolean
  /** Key usage: absent, or it includes the usage by which a TLS handshake proves a key. */
  readonly mayProveKey: boolean
  /** Extended key usage: absent, or it includes client authentication. */
  readonly allowsClients: boolean
  /** Hexadecimal. */
  readonly subjectKeyId?: string
  readonly authority: AuthorityKeyId
  readonly altNames: readonly GeneralName[]
  readonly nameConstraints?: NameConstraints
  /** True for a certificate with an unknown critical extension, which must not be relied on. */
  readonly hasUnknownCritical: boolean
}

/** The name of the signing key in a certificate, all hexadecimal. `issuers` holds encoded directory names. */
interface AuthorityKeyId {
  readonly keyId?: string
  readonly issuers?: readonly string[]
  readonly serial?: string
}

const WITHOUT_EXTENSIONS: Extensions = {
  isAuthority: false,
  pathLength: Infinity,
  maySignCertificates: true,
  mayProveKey: true,
  allowsClients: true,
  authority: {},
  altNames: [],
  hasUnknownCritical: false,
}

/** Reads the extensions of a certificate. Throws for a malformed known extension and for a repeated extension. */
export function readExtensions(library: Library, extensions: readonly Extension[]): Extensions {
  if (new Set(extensions.map(({ extnID }) => extnID)).size < extensions.length) {
    throw new Error('certificate has an extension twice')
  }
  const read: Extensions = { ...WITHOUT_EXTENSIONS }
  for (const extension of extensions) Object.assign(read, readExtension(library, extension))
  return read
}

function readExtension(library: Library, { extnID, extnValue, critical }: Extension): Partial<Extensions> {
  const { asn1, x509 } = library
  const parse = <T>(type: new () => T): T => parseDer(library, new Uint8Array(extnValue.buffer), type)
  switch (extnID) {
    case asn1.id_ce_basicConstraints: {
      const { cA, pathLenConstraint = Infinity } = parse(asn1.BasicConstraints)
      // The library answers text for integers of four octets or more.
      if (typeof pathLenConstraint !== 'number' || pathLenConstraint < 0) throw new Error('path length is out of range')
      return { isAuthority: cA, pathLength: pathLenConstraint }
    }
    case asn1.id_ce_keyUsage: {
      const { digitalSignature, keyAgreement, keyCertSign } = x509.KeyUsageFlags
      const usage = parse(asn1.KeyUsage).toNumber()
      return {
        maySignCertificates: (usage & keyCertSign) !== 0,
        mayProveKey: (usage & (digitalSignature | keyAgreement)) !== 0,
      }
    }
    case asn1.id_ce_extKeyUsage:
      return { allowsClients: parse(asn1.ExtendedKeyUsage).includes(x509.ExtendedKeyUsage.clientAuth) }
    case asn1.id_ce_subjectKeyIdentifier:
      return { subjectKeyId: hexOf(parse(asn1.SubjectKeyIdentifier).buffer) }
    case asn1.id_ce_authorityKeyIdentifier:
      return { authority: authorityKeyIdOf(library, parse(asn1.AuthorityKeyIdentifier)) }
    case asn1.id_ce_subjectAltName:
      return { altNames: parse(asn1.SubjectAlternativeName).map((name) => readGeneralName(library, name)) }
    case asn1.id_ce_nameConstraints:
      return { nameConstraints: readNameConstraints(library, extnValue.buffer) }
    // Policies restrict nothing here: every policy is acceptable and none is required.
    case asn1.id_ce_certificatePolicies:
      return {}
    default:
      return critical ? { hasUnknownCritical: true } : {}
  }
}

function authorityKeyIdOf({ schema }: Library, structure: KeyIdentifierStructure): AuthorityKeyId {
  const { keyIdentifier, authorityCertIssuer, authorityCertSerialNumber } = structure
  return {
    ...(keyIdentifier && { keyId: hexOf(keyIdentifier.buffer) }),
    ...(authorityCertIssuer && {
      issuers: authorityCertIssuer.flatMap(({ directoryName }) =>
        directoryName ? [hexOf(schema.AsnConvert.serialize(directoryName))] : [],
      ),
    }),
    ...(authorityCertSerialNumber && { serial: hexOf(authorityCertSerialNumber) }),
  }
}

function hexOf(octets: ArrayBuffer): string {
  return toHex(new Uint8Array(octets))
}
