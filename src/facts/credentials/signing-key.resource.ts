import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Instant } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

const DEFINITION = {
  name: 'signing-keys',
  singular: 'signing key',
  storeName: 'signingKeys',
  permission: 'controllers',
  writable: {},
  system: {
    certPem: z.string(),
    expiresAt: Instant,
    /** The certificate with its intermediates; null for a certificate from the host. */
    chainPem: z.string().nullable(),
    /** The reference of its key; null for the key of the previous certificate, and for a certificate from the host. */
    keyReference: z.string().nullable(),
    /** The id of the certificate that it replaced; null for a certificate from the host. */
    replaces: z.string().nullable(),
  },
  hidden: ['keyReference'],
  symbols: { keyReference: null },
  required: [],
  operations: [],
} as const satisfies ResourceDefinition

/**
 * The server certificates whose keys sign tokens of the network: of this process, of other processes over the same store, and former
 * certificates with valid tokens. The id is the `kid` of the tokens, the SHA-1 of the certificate in hexadecimal.
 */
export interface SigningKeys extends Resource<typeof DEFINITION> {}
export const signingKeys: SigningKeys = defineResource(DEFINITION, {
  certPem: 'The certificate, PEM.',
  expiresAt: 'When the certificate expires, RFC 3339.',
  chainPem: 'The certificate with its intermediates, PEM; null for a key that the program gave.',
  replaces: 'The id of the certificate that it replaced; null for a key that the program gave.',
})
