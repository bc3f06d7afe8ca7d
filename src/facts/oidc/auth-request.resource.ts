import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import type { ClientRequest, RequestLogin, SignerLogin } from './auth-request.rules.ts'

const DEFINITION = {
  name: 'auth-requests',
  singular: 'auth request',
  storeName: 'authRequests',
  permission: 'identity',
  writable: {},
  system: {
    request: z.custom<ClientRequest>(),
    expiresAt: Instant,
    identityId: Id.nullable(),
    login: z.custom<RequestLogin>().nullable(),
    signerLogin: z.custom<SignerLogin>().nullable(),
    /** Digests of the issued codes; the first code that is presented ends the request. */
    codeDigests: z.array(z.string()),
  },
  hidden: ['request', 'expiresAt', 'identityId', 'login', 'signerLogin', 'codeDigests'],
  required: [],
  indexed: ['identityId'],
  references: { identityId: { to: 'identities', onDelete: 'cascade' } },
  operations: [],
} as const satisfies ResourceDefinition

/** A login by OpenID Connect that is under way, from `/authorize` to the exchange of its code; ten minutes at most. */
export interface AuthRequests extends Resource<typeof DEFINITION> {}
export const authRequests: AuthRequests = defineResource(DEFINITION, {})
