/** The numbers of an RSA public key (RFC 8017), as the content of their INTEGERs. */
export interface RsaPublicKey {
  modulus: ArrayBuffer
  publicExponent: ArrayBuffer
}

/** ASN.1 structures that the X.509 library reads without telling. */
export interface Structures {
  readonly RsaPublicKey: new () => RsaPublicKey
}

/** Declares the structures to the library; decorators are called as functions, because Node runs these sources as they are. */
export function declareStructures({
  AsnIntegerArrayBufferConverter,
  AsnProp,
  AsnPropTypes,
}: typeof import('@peculiar/asn1-schema')): Structures {
  class RsaPublicKey {
    modulus = new ArrayBuffer(0)
    publicExponent = new ArrayBuffer(0)
  }
  const number = { type: AsnPropTypes.Integer, converter: AsnIntegerArrayBufferConverter }
  AsnProp(number)(RsaPublicKey.prototype, 'modulus')
  AsnProp(number)(RsaPublicKey.prototype, 'publicExponent')
  return { RsaPublicKey }
}
