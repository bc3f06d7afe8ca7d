/** How a key signs, by the names of JSON Web Algorithms: it follows from the key of the certificate. */
export type SignatureAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256' | 'EdDSA'

/**
 * Signs with a private key that nobody can read, such as one in a hardware module or a key management service. It is
 * asked once for each certificate and token, never while a record is being written, and once at the start, to prove that
 * the key belongs to its certificate.
 */
export interface KeySigner {
  /**
   * Signs `data`, which is not hashed yet. An ECDSA signature may be DER, as key management services answer, or `r` and
   * `s` side by side, as hardware modules do.
   */
  sign(data: Uint8Array, algorithm: SignatureAlgorithm): Promise<Uint8Array>
}
