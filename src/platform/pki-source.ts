import type { PkiMaterial } from './pki-material.ts'
import type { HeldKey } from './x509/keys/held-key.ts'

/** The TLS server certificate with its key. */
export type ServerCertificateSource = Pick<PkiMaterial, 'serverCertPem'> &
  (Pick<PkiMaterial, 'serverKeyPem'> | { readonly serverKey: HeldKey })

/** Certificates of one network, PEM, and its two private keys, each PEM text or held elsewhere. */
export type PkiSource = Pick<PkiMaterial, 'caPem' | 'signingCertPem'> &
  (Pick<PkiMaterial, 'signingKeyPem'> | { readonly signingKey: HeldKey }) &
  ServerCertificateSource
