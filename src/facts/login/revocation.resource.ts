import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant, Tags } from '../../kernel/declaration/fields.ts'
import { always, type Resource, type ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'

const DEFINITION = {
  name: 'revocations',
  singular: 'revocation',
  storeName: 'revocations',
  permission: 'revocation',
  writable: {},
  system: {
    type: z.enum(['JTI', 'IDENTITY', 'API_SESSION']),
    expiresAt: Instant,
    /** Whom it counts for: who asked for it, or whose session it was; null where it is not counted. */
    identityId: Id.nullable(),
    /** The session of a single token that was taken back by its holder; null for any other. */
    apiSessionId: Id.nullable(),
  },
  hidden: ['identityId', 'apiSessionId'],
  required: [],
  indexed: ['identityId', 'apiSessionId'],
  symbols: { identityId: null, apiSessionId: null },
  // Of JWTs that were issued before an instant no revocation of ours speaks.
  computed: { issuedBefore: always('instant', null) },
  operations: ['list', 'get'],
} as const satisfies ResourceDefinition

/** Tokens that are no longer good: one token, those of an API session, or those of an identity; kept until they expire. */
export interface Revocations extends Resource<typeof DEFINITION> {}
export const revocations: Revocations = defineResource(DEFINITION, {
  type: 'What `id` names: one token (`JTI`), an identity (`IDENTITY`) or an API session (`API_SESSION`).',
  expiresAt: 'When the last token that it concerns has expired and the revocation goes, RFC 3339.',
})

/** POST /revocations. */
export const RevocationCreation = described(
  z.object({ id: Id, type: z.enum(['JTI', 'IDENTITY', 'API_SESSION']), tags: Tags.default({}) }),
  {
    id: 'What is revoked: the id of an identity, or the UUID of a token or of an API session.',
    type: 'Which of them `id` is: `JTI`, `IDENTITY` or `API_SESSION`.',
  },
)
