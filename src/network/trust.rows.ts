import { z } from 'zod'
import { Id } from '../../resources/declaration/fields.ts'
import { described } from '../../resources/declaration/words.ts'
import { defineOperation } from '../operations/define-operation.ts'

const MAY_AUTHENTICATE_ADMINS = 'Whether it may let in administrators and identities with permissions.'

const TrustAnchor = described(
  z.object({
    id: Id,
    name: z.string(),
    kind: z.enum(['ca', 'external-jwt-signer']),
    mayAuthenticateAdmins: z.boolean(),
  }),
  {
    id: 'The id of the CA or the signer.',
    name: 'Its name.',
    kind: 'Which of the two it is.',
    mayAuthenticateAdmins: MAY_AUTHENTICATE_ADMINS,
  },
)

/** Shows which trust anchors may let in identities with rights. */
export const listTrustOperation = defineOperation(
  {
    route: 'GET /trust-anchors',
    summary: 'Lists the CAs and external JWT signers with the trust that they have',
    description:
      'Of the two kinds those that the caller may read. What an administrator made is trusted; what a delegate made or changed is not.',
    access: 'delegate',
    data: z.array(TrustAnchor),
  },
  async ({ engine, call }) => ({ data: [...(await engine.trustAnchors.list(call))] }),
)

/** Gives a trust anchor trust, or takes it. */
export const setTrustOperation = defineOperation(
  {
    route: 'PUT /trust-anchors/{id}',
    summary: 'Says whether a CA or external JWT signer may let in identities with rights',
    description: 'Nothing else makes it trusted again after a delegate changed it.',
    access: 'admin',
    body: described(z.object({ mayAuthenticateAdmins: z.boolean() }), {
      mayAuthenticateAdmins: MAY_AUTHENTICATE_ADMINS,
    }),
    data: TrustAnchor,
    errors: ['ENTITY_CAN_NOT_BE_UPDATED'],
  },
  async ({ engine, call, params, body }) => {
    return { data: await engine.trustAnchors.trust(call, params.id, body.mayAuthenticateAdmins) }
  },
)
