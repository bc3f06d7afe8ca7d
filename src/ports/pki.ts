/** A certificate as rules need it: parsed once, no private part. */
export interface CertificateFacts {
  /** Lower-case hexadecimal SHA-1 of the DER form: the field's fingerprint of a certificate. */
  readonly fingerprint: string
  readonly pem: string
  readonly der: Uint8Array
  /** Common name of the subject; of several the last one, and empty text when there is none. */
  readonly commonName: string
  /** The whole subject as text, such as `CN=device,O=Example`. */
  readonly subject: string
  /** URI and mail names among the alternative names, in order. */
  readonly uris: readonly string[]
  readonly emails: readonly string[]
  /** Host names and IP addresses among the alternative names, as text: what a server may be called. */
  readonly hosts: readonly string[]
  /** Hexadecimal SubjectPublicKeyInfo: equal for certificates of the same key. */
  readonly publicKey: string
  readonly isAuthority: boolean
  /** Hexadecimal identifier of the key that signed it, as it says itself; null where it names none. */
  readonly authorityKeyId: string | null
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

/** Why a signing request was refused. */
export type CsrProblem = 'missing' | 'unparsable' | 'bad-signature' | 'weak-key'

export type IssuedCertificate =
  | { readonly issued: true; readonly leaf: CertificateFacts; readonly chainPem: string }
  | { readonly issued: false; readonly problem: CsrProblem }

/** Why text holds no certificates: none in it, a block of another kind first, or a block that is no certificate. */
export type CertificateProblem = 'no-pem' | 'not-a-certificate' | 'malformed'

/** A router's pair of certificates, or which of its signing requests was refused. */
export type IssuedRouterCertificates =
  | {
      readonly issued: true
      readonly client: CertificateFacts
      readonly clientChainPem: string
      readonly serverChainPem: string
    }
  | { readonly issued: false; readonly of: 'client' | 'server'; readonly problem: CsrProblem | 'wrong-name' }

/** A certificate authority outside of the network; of `certPem` only the first certificate is trusted. */
export interface ThirdParty {
  readonly id: string
  readonly certPem: string
}

/** Which third party a client's chain leads to. */
export type ThirdPartyVerdict =
  | { readonly trusted: true; readonly leaf: CertificateFacts; readonly authorityId: string }
  | { readonly trusted: false }

/** Where a client's chain ends. `improper` says that the client did not send the intermediates itself. */
export type ChainVerdict =
  | { readonly trusted: true; readonly leaf: CertificateFacts; readonly improper: boolean }
  | { readonly trusted: false }

/** A root of the network with the signing authority below it. All PEM. */
export interface AuthorityGeneration {
  /** The fingerprint of the signing authority's certificate. */
  readonly id: string
  /** The roots, and what else stands in the trust bundle. */
  readonly rootPem: string
  /** The signing authority's certificate, its intermediates, and certificates by which earlier roots vouch for this one. */
  readonly chainPem: string
  /**
   * Until when its certificates are good, epoch milliseconds, whatever authorities say of themselves; null for as long as they
   * say. A root of several generations is good for as long as the last of them.
   */
  readonly goodUntil: number | null
}

/** A new generation, and by what its keys are found. */
export interface NewGeneration extends Pick<AuthorityGeneration, 'id' | 'rootPem' | 'chainPem'> {
  /** Hexadecimal identifier of the signing authority's key. */
  readonly keyId: string
  /** References of the store of keys; null for the key that the host gave. */
  readonly rootKey: string | null
  readonly signingKey: string | null
  /** Whether who trusts the root before trusts this one too. */
  readonly isVouchedFor: boolean
}

/** The generation after which another one comes. */
export type FormerGeneration = Pick<NewGeneration, 'rootPem' | 'chainPem' | 'rootKey'>

/** A new certificate of a server for the same names. */
export interface NewServerCertificate {
  readonly certPem: string
  /** The same with its intermediates. */
  readonly chainPem: string
  /** A reference of the store of keys; null where the key stays. */
  readonly keyReference: string | null
  readonly facts: CertificateFacts
}

/**
 * The keys of the network in turn: makes authorities and server certificates, and puts them in use in this process. What is made
 * is kept by the caller.
 */
export interface KeySuccession {
  /** The generation that the host gave, and whether the key of its root came with it. */
  readonly configured: Pick<NewGeneration, 'id' | 'rootPem' | 'chainPem' | 'keyId'> & { readonly hasRootKey: boolean }
  /** The fingerprint of the server certificate that the host gave last. */
  readonly configuredServer: string
  /** Whether keys that are made can be found again by other processes and after a restart. */
  readonly canKeepKeys: boolean
  /** A signing authority by the root of `former`. Rejects where the key of that root is not at hand. */
  nextSigning(former: FormerGeneration, now: number): Promise<NewGeneration>
  /** A root and a signing authority by it; the root of `former` vouches for it where its key is at hand and it may. */
  nextRoot(former: FormerGeneration, now: number): Promise<NewGeneration>
  /** A certificate for the names of the server certificate in use, by the authority in use; with a key of its own or the same. */
  nextServer(rollsKey: boolean, now: number): Promise<NewServerCertificate>
  /** Trusts `generations` from now on; certificates are issued by that of `issuer`, whose key has this reference. */
  adopt(
    generations: readonly AuthorityGeneration[],
    issuer: { readonly id: string; readonly signingKey: string | null },
    now: number,
  ): Promise<void>
  /** Shows a server certificate and signs by its key; `keyReference` is null where the key stays. */
  adoptServer(chainPem: string, keyReference: string | null): Promise<void>
}

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
  /** Hexadecimal identifier of the key that signs certificates; null where its certificate tells none. */
  readonly issuerKeyId: string | null
  /** Facts of the authority that signs certificates. */
  issuer(): Promise<CertificateFacts>
  /** Facts of the TLS server certificate. */
  serverCertificate(): Promise<CertificateFacts>
  /**
   * Issues a client certificate with the request's subject and the single SAN `spiffeId`, valid from one minute before
   * `now` (ms) for one calendar year, signed by the network's signing CA. `chainPem` is the leaf, then the
   * intermediates, without the self-signed root. `commonName` takes the place of the subject, `lifetimeMs` (from `now`)
   * of the year.
   */
  issueClientCertificate(request: {
    readonly csrPem: string
    readonly spiffeId: string
    readonly now: number
    readonly commonName?: string
    readonly lifetimeMs?: number
  }): Promise<IssuedCertificate>
  /**
   * Issues the client and the server certificate of a router for one calendar year. The subject of the client certificate
   * must have the common name `routerId`, or gets it where `namesItself` is false. Host names, addresses and mail names
   * are those of the requests; the only URI is `spiffeId`.
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
   * Whether the first certificate of a PEM text is for the key of an authority of this network, was signed by one, or signed
   * one itself. As a third party it would let the network's own clients in as somebody else.
   */
  isOwnAuthority(certPem: string): Promise<boolean>
  /** The id of the authority, also of a former one, whose key has an identifier (hexadecimal); undefined for an unknown one. */
  authorityIdOf(keyId: string): string | undefined
  /** The certificates of a PEM text, in order; nothing about them is trusted. */
  readCertificates(pem: string): Promise<readonly CertificateFacts[] | CertificateProblem>
  /** Facts of the certificate of a TLS handshake, DER, or `undefined` when it cannot be read. */
  readClientCertificate(der: Uint8Array): Promise<CertificateFacts | undefined>
  /**
   * Finds the third party that the first certificate of `chain` (DER, leaf first) leads to, by the rules of
   * {@link verifyClientChain}. An authority whose certificate cannot be read, or that is the
   * network's own, matches nothing.
   */
  verifyThirdPartyChain(
    chain: readonly Uint8Array[],
    authorities: readonly ThirdParty[],
    now: number,
  ): Promise<ThirdPartyVerdict>
  /**
   * Whether `authority` itself signed the certificate `der` as one that may sign at `now`. What the certificate is for
   * does not matter: it proves that its holder commands the authority's key, and is used for nothing else.
   */
  isIssuedByThirdParty(der: Uint8Array, authority: ThirdParty, now: number): Promise<boolean>
  /**
   * Verifies that the first certificate of `chain` (DER, leaf first) leads to the network's roots: signatures, basic
   * constraints, path length, key usage, extended key usage and the validity of every CA at `now` (ms). The leaf's own
   * validity is not judged: an authentication policy decides about expired certificates.
   */
  verifyClientChain(chain: readonly Uint8Array[], now: number): Promise<ChainVerdict>
}
