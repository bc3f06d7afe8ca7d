import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant, narrowed } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'
import { GivenUsername } from '../credentials/authenticator.resource.ts'

const DEFINITION = {
  name: 'enrollments',
  singular: 'enrollment',
  storeName: 'enrollments',
  permission: 'enrollment',
  writable: {},
  system: {
    method: z.enum(['ott', 'ottca', 'updb', 'erott', 'trott']),
    token: z.string(),
    jwt: z.string(),
    expiresAt: Instant,
    identityId: Id.nullable(),
    edgeRouterId: Id.nullable(),
    transitRouterId: Id.nullable(),
    caId: Id.nullable(),
    username: z.string().nullable(),
  },
  quirks: {
    urlNames: ['identityId'],
    mayBeAbsent: [
      'identity',
      'identityId',
      'edgeRouter',
      'edgeRouterId',
      'transitRouter',
      'transitRouterId',
      'username',
    ],
  },
  secrets: ['token', 'jwt'],
  required: [],
  unique: ['token'],
  indexed: ['identityId', 'edgeRouterId', 'transitRouterId', 'caId'],
  references: {
    identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' },
    edgeRouterId: { to: 'edge-routers', onDelete: 'cascade', show: 'edgeRouter' },
    transitRouterId: { to: 'transit-routers', onDelete: 'cascade', show: 'transitRouter' },
    caId: { to: 'cas', onDelete: 'cascade', show: 'ca' },
  },
  symbols: { identity: 'identityId', edgeRouter: 'edgeRouterId', transitRouter: 'transitRouterId' },
  operations: [],
} as const satisfies ResourceDefinition

/** An invitation to enroll, valid once and until it expires. */
export interface Enrollments extends Resource<typeof DEFINITION> {}
export const enrollments: Enrollments = defineResource(DEFINITION, {
  method:
    'How to enroll: `ott` by token and signing request, `ottca` by token and certificate of a CA, `updb` by token and password, `erott` and `trott` for edge and transit routers.',
  token: 'The one-time token, a secret.',
  jwt: 'The token signed by the controller, with the addresses and the method of the enrollment: a secret to hand over.',
  expiresAt: 'When the enrollment is void, RFC 3339.',
  identityId: 'The id of the identity that enrolls by it; absent when a router does.',
  edgeRouterId: 'The id of the edge router that enrolls by it; absent when something else does.',
  transitRouterId: 'The id of the transit router that enrolls by it; absent when something else does.',
  caId: 'The id of the CA whose certificate is needed, for `ottca`; null otherwise.',
  username: 'The username that is enrolled, for `updb`; absent otherwise.',
})

const FORMER_DEFINITION = {
  name: 'former-inviters',
  singular: 'former inviter',
  storeName: 'formerInviters',
  permission: 'enrollment',
  writable: {},
  system: { lostAt: Instant },
  required: [],
  operations: [],
} as const satisfies ResourceDefinition

/** The identities that could see invitations and lost rights since: one record, under the id `last`. */
export interface FormerInviters extends Resource<typeof FORMER_DEFINITION> {}
export const formerInviters: FormerInviters = defineResource(FORMER_DEFINITION, {
  lostAt: 'When the last of them lost rights, RFC 3339.',
})

interface OneTimeTokenCreate {
  readonly method: 'ott'
  readonly identityId: string
  /** RFC 3339. Default: now plus the lifetime of the controller's enrollment tokens. */
  readonly expiresAt?: string
}
/** A request that invites an identity to enroll, by method. */
export type EnrollmentCreate =
  | OneTimeTokenCreate
  | (Omit<OneTimeTokenCreate, 'method'> & { readonly method: 'ottca'; readonly caId: string })
  | (Omit<OneTimeTokenCreate, 'method'> & { readonly method: 'updb'; readonly username: string })

/** POST /enrollments. */
export const EnrollmentCreation = narrowed<EnrollmentCreate>()(
  described(
    z.object({
      caId: Id.optional(),
      expiresAt: Instant.optional(),
      identityId: Id,
      method: z.enum(['ott', 'ottca', 'updb']),
      username: GivenUsername.optional(),
    }),
    {
      caId: 'For `ottca`: the id of the CA whose certificate is needed.',
      expiresAt:
        "When the enrollment is void, RFC 3339; in the future. By default as long from now as the controller's enrollment tokens are good.",
      identityId: 'The id of the identity; it has no enrollment of the method yet.',
      method: 'How to enroll: `ott` by signing request, `ottca` by certificate of a CA, `updb` by password.',
      username:
        'For `updb`: the username, 1 to 100 characters, unique in the network. With fewer than 4 one logs in by OpenID Connect alone.',
    },
  ),
)
