import { z } from 'zod'
import { Id, Tags } from '../declaration/fields.ts'
import { described } from '../declaration/words.ts'

/** POST /revocations. */
export const RevocationCreation = described(
  z.object({ id: Id, type: z.enum(['JTI', 'IDENTITY', 'API_SESSION']), tags: Tags.default({}) }),
  {
    id: 'What is revoked: the id of an identity, or the UUID of a token or of an API session.',
    type: 'Which of them `id` is: `JTI`, `IDENTITY` or `API_SESSION`.',
  },
)
