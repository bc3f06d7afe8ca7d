import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { KeptPair } from './acme-folder.ts'
import type { AcmeCertificates } from './acme-options.ts'

/** The protocol of ALPN by which a server looks at a challenge. */
const ACME_PROTOCOL = 'acme-tls/1'
const HTTP = 'http/1.1'

/** The certificates that a TLS server shows, by the name that a client asks for: of hosts, and of the challenge under way. */
export class ShownCertificates {
  readonly #held = new Map<string, { readonly pair: KeptPair; readonly context: SecureContext }>()
  /** Connections by which a server looks at the challenge. */
  readonly #looking = new WeakSet<object>()
  #challenge: { readonly host: string; readonly context: SecureContext } | undefined

  readonly tls: AcmeCertificates['tls']

  constructor() {
    const shown = this
    this.tls = {
      SNICallback(servername, done) {
        const name = servername.toLowerCase()
        const challenge = shown.#challenge?.host === name ? shown.#challenge.context : undefined
        const context = shown.#held.get(name)?.context
        // TLS 1.3 has agreed on the protocol by now. A host without a certificate has nothing else to show.
        done(null, shown.#looking.has(this) ? challenge : (context ?? challenge))
      },
      ALPNCallback({ servername, protocols }) {
        if (!protocols.includes(ACME_PROTOCOL)) return protocols.includes(HTTP) ? HTTP : undefined
        const { host, context } = shown.#challenge ?? {}
        // Without a name the value is no text, although its type says so.
        if (context === undefined || String(servername).toLowerCase() !== host) return undefined
        shown.#looking.add(this)
        if (this instanceof TLSSocket) {
          // TLS 1.2 has chosen the certificate by now.
          this.setKeyCert(context)
          // Nothing is said after the handshake.
          this.once('secure', () => this.end())
        }
        return ACME_PROTOCOL
      },
    }
  }

  /** The pair that a host shows. */
  of(host: string): KeptPair | undefined {
    return this.#held.get(host)?.pair
  }

  /** The hosts with a pair, and their pairs. */
  *pairs(): Iterable<readonly [string, KeptPair]> {
    for (const [host, { pair }] of this.#held) yield [host, pair]
  }

  /** Shows a pair in new connections. */
  use(host: string, pair: KeptPair): void {
    if (this.of(host)?.pem !== pair.pem) {
      this.#held.set(host, { pair, context: createSecureContext({ key: pair.pem, cert: pair.pem }) })
    }
  }

  drop(host: string): void {
    this.#held.delete(host)
  }

  /** Shows the certificate of a challenge to the server that looks for it, or no challenge. */
  prove(host: string, context: SecureContext | undefined): void {
    this.#challenge = context && { host, context }
  }
}
