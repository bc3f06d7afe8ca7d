import type { OptionDeclarations } from '../command-line/options.ts'

/** Certificates and keys in files of their own, all of them or none, instead of a folder. */
export const CERTIFICATE_FILE_OPTIONS = {
  'server-cert': { value: 'FILE', summary: 'TLS server certificate with its intermediates' },
  'server-key': { value: 'FILE', summary: 'its key' },
  'signing-cert': { value: 'FILE', summary: 'authority that signs client certificates' },
  'signing-key': { value: 'FILE', summary: 'its key' },
  ca: { value: 'FILE', summary: 'trust bundle that the server and the signing certificate lead to' },
} as const satisfies OptionDeclarations
