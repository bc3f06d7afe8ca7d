import { RevocationCreation, revocations } from '../../facts/login/revocation.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { Created, created } from '../../http/operations/operation.ts'

export const revocationCreation = defineOperation(
  {
    route: 'POST /revocations',
    summary: 'Revokes one token, or those of an API session or of an identity',
    description: 'Kept until every token that it concerns has expired; doing it again renews it.',
    access: { entity: 'revocation', action: 'create' },
    body: RevocationCreation,
    data: Created,
    status: 201,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, request }) => created(revocations, (await engine.revocations.create(call, request)).id),
)
