import type { CertificateFacts } from '../ports/pki.ts'
import type { ServerCertificateSource } from './pki-material.ts'
import { type Library, loadLibrary, readPart } from './x509/asn1-structures.ts'
import { type Certificate, certificateFacts, readCertificates } from './x509/certificate.ts'
import { type HeldKey, loadSigningKey, type SigningKey, signatureSchemeOf } from './x509/signing-key.ts'

/** The TLS server certificate, and its key, which signs the network's tokens. */
export interface ServerCredential {
  readonly certificate: Certificate
  readonly facts: CertificateFacts
  readonly key: SigningKey
  /** The key as given: PEM text, or held elsewhere. */
  readonly held: string | HeldKey
  /** Certificate chain and key as given; without the key if it is held elsewhere. */
  readonly pem: { readonly cert: string; readonly key: string | undefined }
}

/** A key by which tokens of the network are recognised: the key of the current or a former server certificate. */
export interface TokenKey {
  readonly certificate: Certificate
  /** The fingerprint of the certificate. */
  readonly kid: string
  /** The algorithm by its JSON Web Algorithms name, and the hash by its WebCrypto name. */
  readonly jwa: string
  readonly hash: string
}

/** Former certificates whose tokens are still recognised. Each lasts a year, which is longer than any token is valid. */
const MAX_FORMER = 20

/**
 * The current server certificate and its predecessors. A renewed certificate takes over at once; tokens that a former key signed stay
 * valid, since their holders did nothing wrong.
 */
export class ServerCredentials {
  readonly #library: Library
  #current: ServerCredential
  #given: string
  /** Newest first. */
  #former: readonly TokenKey[] = []

  private constructor(library: Library, first: ServerCredential) {
    this.#library = library
    this.#current = first
    this.#given = first.facts.fingerprint
  }

  /** Throws an `Error` naming the part when the certificate or the key is unreadable, or when they do not match. */
  static async open(source: ServerCertificateSource, library?: Library): Promise<ServerCredentials> {
    const loaded = library ?? (await loadLibrary())
    return new ServerCredentials(loaded, await readServerCredential(loaded, source))
  }

  get current(): ServerCredential {
    return this.#current
  }

  /** The fingerprint of the host's latest certificate, which the current certificate may have succeeded. */
  get given(): string {
    return this.#given
  }

  get currentKey(): TokenKey {
    return tokenKeyOf(this.#current)
  }

  /** The keys of all certificates whose tokens are recognised, the current key first. */
  tokenKeys(): readonly TokenKey[] {
    return [this.currentKey, ...this.#former]
  }

  /** The key of the certificate with this fingerprint, in use or former. */
  find(fingerprint: string): TokenKey | undefined {
    return this.tokenKeys().find(({ kid }) => kid === fingerprint)
  }

  /** Recognises the tokens of another server certificate, PEM. Throws for an unreadable certificate. */
  async recognise(certPem: string): Promise<void> {
    const [certificate] = await readPart('serverCertPem', () => readCertificates(this.#library, certPem))
    this.#addFormer(tokenKeyOf({ certificate, facts: await certificateFacts(this.#library, certificate) }))
  }

  /** The chain and key in use, PEM. Throws when the key is held elsewhere. */
  tls(): { readonly cert: string; readonly key: string } {
    const { cert, key } = this.current.pem
    if (key === undefined) throw new Error('serverKey: is held elsewhere, so there is no PEM for TLS')
    return { cert, key }
  }

  /** Puts another certificate of the host into use. Throws as {@link open} does; then the current certificate stays. */
  async replace(source: ServerCertificateSource): Promise<void> {
    await this.adopt(source)
    this.#given = this.#current.facts.fingerprint
  }

  /** Puts a successor of the host's certificate into use. Throws as {@link open} does; then the current certificate stays. */
  async adopt(source: ServerCertificateSource): Promise<void> {
    const next = await readServerCredential(this.#library, source)
    const before = this.currentKey
    this.#current = next
    this.#former = this.#former.filter(({ kid }) => kid !== next.facts.fingerprint)
    this.#addFormer(before)
  }

  #addFormer(key: TokenKey): void {
    if (key.kid === this.#current.facts.fingerprint) return
    const others = this.#former.filter(({ kid }) => kid !== key.kid)
    this.#former = [key, ...others].slice(0, MAX_FORMER)
  }
}

function tokenKeyOf({ certificate, facts }: Pick<ServerCredential, 'certificate' | 'facts'>): TokenKey {
  return { certificate, kid: facts.fingerprint, ...signatureSchemeOf(certificate.publicKey.algorithm) }
}

async function readServerCredential(library: Library, source: ServerCertificateSource): Promise<ServerCredential> {
  const [certificate] = await readPart('serverCertPem', () => readCertificates(library, source.serverCertPem))
  const [part, held] =
    'serverKey' in source
      ? (['serverKey', source.serverKey] as const)
      : (['serverKeyPem', source.serverKeyPem] as const)
  const key = await readPart(part, () => loadSigningKey(library, held, certificate.publicKey))
  const pem = { cert: source.serverCertPem, key: typeof held === 'string' ? held : undefined }
  return { certificate, key, held, pem, facts: await certificateFacts(library, certificate) }
}
