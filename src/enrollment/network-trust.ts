import { z } from 'zod'
import type { EngineContext } from '../context/context.ts'
import { readValue } from '../kernel/declaration/read-body.ts'
import type { CertificateFacts } from '../ports/pki.ts'

/** The network as somebody meets it who does not belong to it yet: where it is, and how to know that it is the right one. */
export class Network {
  readonly #context: Pick<EngineContext, 'pki' | 'random' | 'settings' | 'tokens'>
  #token: { readonly issuer: string; readonly signed: Promise<string> } | undefined

  constructor(context: Pick<EngineContext, 'pki' | 'random' | 'settings' | 'tokens'>) {
    this.#context = context
  }

  /** `host:port` under which devices reach the controller. */
  get address(): string {
    return this.#context.settings.address
  }

  /** True when identities may log in by OpenID Connect. */
  get hasOpenId(): boolean {
    return this.#context.settings.hasOpenId
  }

  /** The trust bundle, PEM. */
  get caPem(): string {
    return this.#context.pki.caBundlePem
  }

  /** The trust bundle, PKCS#7. */
  caPkcs7() {
    return this.#context.pki.caBundlePkcs7()
  }

  /** The certificate that the controller shows to its clients. */
  serverCertificate(): Promise<Pick<CertificateFacts, 'fingerprint' | 'pem'>> {
    return this.#context.pki.serverCertificate()
  }

  /** The key that signs enrollment tokens, as a JSON Web Key. */
  publicKey() {
    return this.#context.tokens.publicKey()
  }

  /** Proves by a signature of `nonce` that the controller has the key. */
  signNonce(nonce: string) {
    readValue('nonce', z.string(), nonce)
    return this.#context.tokens.signNonce(nonce)
  }

  /**
   * The token that tells an enroller which network it talks to. It never expires and is signed once in a process for each
   * address.
   */
  token(): Promise<string> {
    const issuer = `https://${this.address}/`
    if (this.#token?.issuer !== issuer) this.#token = { issuer, signed: this.#signToken(issuer) }
    return this.#token.signed
  }

  #signToken(issuer: string): Promise<string> {
    const { tokens, random } = this.#context
    return tokens.sign({ iss: issuer, sub: issuer, aud: ['openziti-enroller'], jti: random.uuid(), em: 'network' })
  }
}
