import { z } from 'zod'
import { Id, Tags } from '../../../resources/declaration/fields.ts'
import { described } from '../../../resources/declaration/words.ts'
import { revocations } from '../../../resources/login/revocations.ts'
import { Created, created } from '../../operations/answers.ts'
import { defineOperation } from '../../operations/define-operation.ts'

const Revocation = described(
  z.object({ id: Id, type: z.enum(['JTI', 'IDENTITY', 'API_SESSION']), tags: Tags.default({}) }),
  {
    id: 'What is revoked: the id of an identity, or the UUID of a token or of an API session.',
    type: 'Which of them `id` is: `JTI`, `IDENTITY` or `API_SESSION`.',
  },
)

export const revocationCreation = defineOperation(
  {
    route: 'POST /revocations',
    summary: 'Revokes one token, or those of an API session or of an identity',
    description: 'Kept until every token that it concerns has expired; doing it again renews it.',
    access: { entity: 'revocation', action: 'create' },
    body: Revocation,
    data: Created,
    status: 201,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, body }) => created(revocations, (await engine.revocations.create(call, body)).id),
)
