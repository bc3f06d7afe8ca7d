import type { PkiMaterial } from './pki-material.ts'
import type { HeldKey } from './x509/keys/held-key.ts'

/** The TLS server certificate with its key. */
export type ServerCertificateSource = Pick<PkiMaterial, 'serverCertPem'> &
  (Pick<PkiMaterial, 'serverKeyPem'> | { readonly serverKey: HeldKey })

/** Certificates that are opened, or made, for the controller that asks for them; `await` opens them as they are. */
export interface PkiOpening extends PromiseLike<PkiSource> {
  /**
   * Opens them for a controller that clients reach at a DNS name or IP address: a server certificate that is made now is for
   * it as well, one that is there stays as it is.
   */
  openFor(host: string): Promise<PkiSource>
}

/** Certificates of one network, PEM, and its two private keys, each PEM text or held elsewhere. */
export type PkiSource = Pick<PkiMaterial, 'caPem' | 'signingCertPem'> &
  (Pick<PkiMaterial, 'signingKeyPem'> | { readonly signingKey: HeldKey }) &
  ServerCertificateSource
