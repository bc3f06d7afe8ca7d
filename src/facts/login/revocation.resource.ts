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
    /**
     * The identity under whose limit it counts: the identity that asked for it, or the owner of the session; null when it does not count.
     */
    identityId: Id.nullable(),
    /** The session of a single token that its holder revoked; null for other revocations. */
    apiSessionId: Id.nullable(),
  },
  hidden: ['identityId', 'apiSessionId'],
  required: [],
  indexed: ['identityId', 'apiSessionId'],
  symbols: { identityId: null, apiSessionId: null },
  // This controller has no revocations of JWTs by their time of issue.
  computed: { issuedBefore: always('instant', null) },
  operations: ['list', 'get'],
} as const satisfies ResourceDefinition

/** A revocation of a single token, or of all tokens of an API session or an identity; kept until the tokens expire. */
export interface Revocations extends Resource<typeof DEFINITION> {}
export const revocations: Revocations = defineResource(DEFINITION, {
  type: 'What `id` names: one token (`JTI`), an identity (`IDENTITY`) or an API session (`API_SESSION`).',
  expiresAt: 'When the last token that it concerns has expired and the revocation goes, RFC 3339.',
})

/** POST /revocations. */
export const RevocationCreation = described(
  z.object({ id: Id, type: z.enum(['JTI', 'IDENTITY', 'API_SESSION']), tags: Tags.default({}) }),
  {
    id: 'The subject of the revocation: the id of an identity, or the UUID of a token or of an API session.',
    type: 'Which of them `id` is: `JTI`, `IDENTITY` or `API_SESSION`.',
  },
)
