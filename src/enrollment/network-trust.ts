import { z } from 'zod'
import type { EngineContext } from '../context/context.ts'
import type { DirectSettings } from '../facts/data-plane/direct-e2ee.ts'
import { readValue } from '../kernel/declaration/read-body.ts'
import type { CertificateFacts } from '../ports/pki.ts'

/** The network as an outsider sees it: its address, and the facts that prove it genuine. */
export class Network {
  readonly #context: EngineContext
  #token: { readonly issuer: string; readonly signed: Promise<string> } | undefined

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** `host:port` under which devices reach the controller. */
  get address(): string {
    return this.#context.settings.address
  }

  /** How the ends of circuits prove themselves to each other; undefined where they do not. */
  get directE2EE(): DirectSettings | undefined {
    return this.#context.settings.directE2EE
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
   * The token by which an enroller knows the network that it talks to. It never expires and is signed once in a process for each address.
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
