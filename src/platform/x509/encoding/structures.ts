import type { AlgorithmIdentifier } from '@peculiar/asn1-x509'

/** What is signed: a body, the algorithm, and the signature over the body. */
export interface SignedStructure {
  /** DER, whole. */
  body: ArrayBuffer
  algorithm: AlgorithmIdentifier
  signature: ArrayBuffer
}

/** The numbers of an RSA public key (RFC 8017), as the content of their INTEGERs. */
export interface RsaPublicKey {
  modulus: ArrayBuffer
  publicExponent: ArrayBuffer
}

/** ASN.1 structures that the X.509 library reads without telling. */
export interface Structures {
  readonly SignedStructure: new () => SignedStructure
  readonly RsaPublicKey: new () => RsaPublicKey
}

/** Declares the structures to the library; decorators are called as functions, because Node runs these sources as they are. */
export function declareStructures(
  { AsnIntegerArrayBufferConverter, AsnProp, AsnPropTypes }: typeof import('@peculiar/asn1-schema'),
  asn1: typeof import('@peculiar/asn1-x509'),
): Structures {
  class SignedStructure {
    body = new ArrayBuffer(0)
    algorithm = new asn1.AlgorithmIdentifier()
    signature = new ArrayBuffer(0)
  }
  AsnProp({ type: AsnPropTypes.Any })(SignedStructure.prototype, 'body')
  AsnProp({ type: asn1.AlgorithmIdentifier })(SignedStructure.prototype, 'algorithm')
  AsnProp({ type: AsnPropTypes.BitString })(SignedStructure.prototype, 'signature')

  class RsaPublicKey {
    modulus = new ArrayBuffer(0)
    publicExponent = new ArrayBuffer(0)
  }
  const number = { type: AsnPropTypes.Integer, converter: AsnIntegerArrayBufferConverter }
  AsnProp(number)(RsaPublicKey.prototype, 'modulus')
  AsnProp(number)(RsaPublicKey.prototype, 'publicExponent')
  return { SignedStructure, RsaPublicKey }
}
