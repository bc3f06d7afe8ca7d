/** The parts of a certificate that rules need, parsed once, without private parts. */
export interface CertificateFacts {
  /** Lower-case hexadecimal SHA-1 of the DER form: the fingerprint by which OpenZiti knows a certificate. */
  readonly fingerprint: string
  readonly pem: string
  readonly der: Uint8Array
  /** The last common name of the subject; empty for a subject without a common name. */
  readonly commonName: string
  /** The whole subject as text, such as `CN=device,O=Example`. */
  readonly subject: string
  /** URI and mail names among the alternative names, in order. */
  readonly uris: readonly string[]
  readonly emails: readonly string[]
  /** Host names and IP addresses among the alternative names, as text: the names of a server. */
  readonly hosts: readonly string[]
  /** Hexadecimal SubjectPublicKeyInfo: equal for certificates of the same key. */
  readonly publicKey: string
  readonly isAuthority: boolean
  /** Hexadecimal identifier of the signing key, as the certificate claims; null when it claims none. */
  readonly authorityKeyId: string | null
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

/** The reason for refusing a signing request. */
export type CsrProblem = 'missing' | 'unparsable' | 'bad-signature' | 'weak-key'

export type IssuedCertificate =
  | { readonly issued: true; readonly leaf: CertificateFacts; readonly chainPem: string }
  | { readonly issued: false; readonly problem: CsrProblem }

/** The reason why no certificates could be read: text without PEM, a first block of another kind, or a malformed certificate. */
export type CertificateProblem = 'no-pem' | 'not-a-certificate' | 'malformed'

/** A router's pair of certificates, or its refused signing request. */
export type IssuedRouterCertificates =
  | {
      readonly issued: true
      readonly client: CertificateFacts
      readonly clientChainPem: string
      readonly serverChainPem: string
    }
  | { readonly issued: false; readonly of: 'client' | 'server'; readonly problem: CsrProblem | 'wrong-name' }

/** A certificate authority outside of the network. Only the first certificate of `certPem` is trusted. */
export interface ThirdParty {
  readonly id: string
  readonly certPem: string
}

/** The third party that a client's chain leads to. */
export type ThirdPartyVerdict =
  | { readonly trusted: true; readonly leaf: CertificateFacts; readonly authorityId: string }
  | { readonly trusted: false }

/** The verdict on a client's chain. `improper` means that the client did not send the intermediates itself. */
export type ChainVerdict =
  | { readonly trusted: true; readonly leaf: CertificateFacts; readonly improper: boolean }
  | { readonly trusted: false }

/** A root of the network with the signing authority below it. All PEM. */
export interface AuthorityGeneration {
  /** The fingerprint of the signing authority's certificate. */
  readonly id: string
  /** The roots, and further certificates of the trust bundle. */
  readonly rootPem: string
  /** The signing authority's certificate, its intermediates, and certificates by which earlier roots vouch for this root. */
  readonly chainPem: string
  /**
   * The end of trust in its certificates, epoch milliseconds, whatever they claim themselves; null when only their own validity counts. A
   * root of several generations is trusted as long as the last of them.
   */
  readonly goodUntil: number | null
}

/** A new generation, and the references of its keys. */
export interface NewGeneration extends Pick<AuthorityGeneration, 'id' | 'rootPem' | 'chainPem'> {
  /** Hexadecimal identifier of the signing authority's key. */
  readonly keyId: string
  /** References in the key store; null for a key from the host. */
  readonly rootKey: string | null
  readonly signingKey: string | null
  /** True when clients that trust the previous root trust this root too. */
  readonly isVouchedFor: boolean
}

/** The generation that a new generation succeeds. */
export type FormerGeneration = Pick<NewGeneration, 'rootPem' | 'chainPem' | 'rootKey'>

/** A new server certificate for the same names. */
export interface NewServerCertificate {
  readonly certPem: string
  /** The certificate with its intermediates. */
  readonly chainPem: string
  /** A reference in the key store; null when the key stays. */
  readonly keyReference: string | null
  readonly facts: CertificateFacts
}

/**
 * Replaces the keys of the network: makes authorities and server certificates, and puts them into use in this process. The caller stores
 * them.
 */
export interface KeySuccession {
  /** The generation from the host. `hasRootKey` is true if the host gave the key of the root too. */
  readonly configured: Pick<NewGeneration, 'id' | 'rootPem' | 'chainPem' | 'keyId'> & { readonly hasRootKey: boolean }
  /** The fingerprint of the host's latest server certificate. */
  readonly configuredServer: string
  /** True when new keys can be found again by other processes and after a restart. */
  readonly canKeepKeys: boolean
  /** Makes a signing authority below the root of `former`. Rejects when the key of that root is unavailable. */
  nextSigning(former: FormerGeneration, now: number): Promise<NewGeneration>
  /**
   * Makes a root and a signing authority below it. The root of `former` vouches for the new root if its key is available and its validity
   * and path length permit.
   */
  nextRoot(former: FormerGeneration, now: number): Promise<NewGeneration>
  /** Makes a certificate for the names of the current server certificate, signed by the current authority, with a new key or the same. */
  nextServer(rollsKey: boolean, now: number): Promise<NewServerCertificate>
  /** Trusts `generations` from now on, and issues certificates by `issuer`, whose key has the reference `signingKey`. */
  adopt(
    generations: readonly AuthorityGeneration[],
    issuer: { readonly id: string; readonly signingKey: string | null },
    now: number,
  ): Promise<void>
  /** Presents a server certificate and signs with its key; `keyReference` is null when the key stays. */
  adoptServer(chainPem: string, keyReference: string | null): Promise<void>
}

/**
 * The network's own certificate authority. A certificate that it issues takes the public key from the signing request,
 * after its signature and strength were checked; names and extensions come from the controller, never from the request.
 */
export interface Pki {
  /** The trust domain of the SPIFFE ids in issued certificates. */
  readonly trustDomain: string
  /** All certificates of the network's trust bundle, concatenated PEM. */
  readonly caBundlePem: string
  /** The same bundle as a degenerate (certificates only) PKCS#7 structure, DER. */
  caBundlePkcs7(): Promise<Uint8Array>
  /** Hexadecimal identifier of the key that signs certificates; null when its certificate holds none. */
  readonly issuerKeyId: string | null
  /** Facts of the authority that signs certificates. */
  issuer(): Promise<CertificateFacts>
  /** Facts of the TLS server certificate. */
  serverCertificate(): Promise<CertificateFacts>
  /**
   * Issues a client certificate with the request's subject and the single SAN `spiffeId`, valid from one minute before `now` (ms) for one
   * calendar year, signed by the network's signing CA. `chainPem` is the leaf, then the intermediates, without the self-signed root.
   * `commonName` replaces the subject, `lifetimeMs` (from `now`) replaces the year.
   */
  issueClientCertificate(request: {
    readonly csrPem: string
    readonly spiffeId: string
    readonly now: number
    readonly commonName?: string
    readonly lifetimeMs?: number
  }): Promise<IssuedCertificate>
  /**
   * Issues the client and the server certificate of a router for one calendar year. The subject of the client certificate must have the
   * common name `routerId`, or gets it when `namesItself` is false. Host names, addresses and mail names come from the requests; the only
   * URI is `spiffeId`.
   */
  issueRouterCertificates(request: {
    readonly clientCsrPem: string
    readonly serverCsrPem: string
    readonly routerId: string
    readonly namesItself: boolean
    readonly spiffeId: string
    readonly now: number
  }): Promise<IssuedRouterCertificates>
  /**
   * Reports whether the first certificate of a PEM text holds the key of an authority of this network, was signed by such an authority, or
   * signed one. As a third party it could let the network's own clients in as other identities.
   */
  isOwnAuthority(certPem: string): Promise<boolean>
  /** The id of the authority, current or former, whose key has an identifier (hexadecimal); undefined for an unknown identifier. */
  authorityIdOf(keyId: string): string | undefined
  /** The certificates of a PEM text, in order. None of them is trusted. */
  readCertificates(pem: string): Promise<readonly CertificateFacts[] | CertificateProblem>
  /** Facts of the certificate of a TLS handshake (DER); `undefined` for an unreadable certificate. */
  readClientCertificate(der: Uint8Array): Promise<CertificateFacts | undefined>
  /**
   * Finds the third party that the first certificate of `chain` (DER, leaf first) leads to, by the rules of {@link verifyClientChain}. An
   * authority with an unreadable certificate matches nothing. Neither does an authority of this network.
   */
  verifyThirdPartyChain(
    chain: readonly Uint8Array[],
    authorities: readonly ThirdParty[],
    now: number,
  ): Promise<ThirdPartyVerdict>
  /**
   * Reports whether `authority` itself signed the certificate `der`, and may sign at `now`. The purpose of the certificate does not matter:
   * it only proves that its holder commands the authority's key.
   */
  isIssuedByThirdParty(der: Uint8Array, authority: ThirdParty, now: number): Promise<boolean>
  /**
   * Verifies that the first certificate of `chain` (DER, leaf first) leads to the network's roots: signatures, basic
   * constraints, path length, key usage, extended key usage and the validity of every CA at `now` (ms). The leaf's own
   * validity is not judged: an authentication policy decides about expired certificates.
   */
  verifyClientChain(chain: readonly Uint8Array[], now: number): Promise<ChainVerdict>
}
