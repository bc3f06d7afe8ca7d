import { z } from 'zod'
import { Id, Tags } from '../../resources/fields.ts'
import { revocations } from '../../resources/revocations.ts'
import { Created, created } from '../answers.ts'
import { defineOperation } from '../operation.ts'

const Revocation = z.object({ id: Id, type: z.enum(['JTI', 'IDENTITY', 'API_SESSION']), tags: Tags.default({}) })

export const revocationCreation = defineOperation(
  {
    route: 'POST /revocations',
    summary: 'Revokes one token, or those of an API session or of an identity',
    access: { entity: 'revocation', action: 'create' },
    body: Revocation,
    data: Created,
    status: 201,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, body }) => created(revocations, (await engine.revocations.create(call, body)).id),
)
