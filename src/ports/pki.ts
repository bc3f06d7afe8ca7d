/** A certificate as rules need it: parsed once, no private part. */
export interface CertificateFacts {
  /** Lower-case hexadecimal SHA-1 of the DER form: the field's fingerprint of a certificate. */
  readonly fingerprint: string
  readonly pem: string
  /** Common name of the subject; of several the last one, and empty text when there is none. */
  readonly commonName: string
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

/** Why a signing request was refused. */
export type CsrProblem = 'missing' | 'unparsable' | 'bad-signature' | 'weak-key'

export type IssuedCertificate =
  | { readonly issued: true; readonly leaf: CertificateFacts; readonly chainPem: string }
  | { readonly issued: false; readonly problem: CsrProblem }

/** Where a client's chain ends. `improper` says that the client did not send the intermediates itself. */
export type ChainVerdict =
  | { readonly trusted: true; readonly leaf: CertificateFacts; readonly improper: boolean }
  | { readonly trusted: false }

/**
 * The network's own certificate authority. A certificate that it issues takes the public key from the signing request,
 * after its signature and strength were checked; names and extensions come from the controller, never from the request.
 */
export interface Pki {
  /** The trust domain of the SPIFFE ids in issued certificates. */
  readonly trustDomain: string
  /** Every certificate of the network's trust bundle, concatenated PEM. */
  readonly caBundlePem: string
  /** The same bundle as a degenerate (certificates only) PKCS#7 structure, DER. */
  caBundlePkcs7(): Promise<Uint8Array>
  /** Facts of the TLS server certificate. */
  serverCertificate(): Promise<CertificateFacts>
  /**
   * Issues a client certificate with the request's subject and the single SAN `spiffeId`, valid from one minute before
   * `now` (ms) for one calendar year, signed by the network's signing CA. `chainPem` is the leaf, then the
   * intermediates, without the self-signed root.
   */
  issueClientCertificate(request: { csrPem: string; spiffeId: string; now: number }): Promise<IssuedCertificate>
  /**
   * Verifies that the first certificate of `chain` (DER, leaf first) leads to the network's roots: signatures, basic
   * constraints, path length, key usage, extended key usage and the validity of every CA at `now` (ms). The leaf's own
   * validity is not judged: an authentication policy decides about expired certificates.
   */
  verifyClientChain(chain: readonly Uint8Array[], now: number): Promise<ChainVerdict>
}
