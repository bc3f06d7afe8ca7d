import { z } from 'zod'
import { toBase64 } from '../../base/bytes.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { Id } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'

const LINE = 64

/** The trust bundle with which a device bootstraps its enrollment. */
export const caCertificates = defineOperation(
  {
    route: 'GET /.well-known/est/cacerts',
    summary: 'Serves the CA certificates of the network as base64 PKCS#7',
    description: 'A device that is about to enroll begins with it, having verified its token.',
    access: 'public',
    produces: 'application/pkcs7-mime',
  },
  async ({ engine }) => ({
    raw: base64Lines(await engine.network.caPkcs7()),
    headers: { 'content-transfer-encoding': 'base64' },
  }),
)

function base64Lines(bytes: Uint8Array): string {
  return (toBase64(bytes).match(new RegExp(`.{1,${LINE}}`, 'g')) ?? []).join('\n')
}

export const networkJwts = defineOperation(
  {
    route: 'GET /network-jwts',
    summary: 'Lists the tokens that tell which network this is',
    description: 'Signed by the controller, so that a device can trust it before it enrolls.',
    access: 'public',
    data: z.array(
      described(z.object({ name: z.string(), token: z.string() }), {
        name: 'The name of the token: `default`.',
        token: 'The token, signed by the controller: it names its addresses and no identity.',
      }),
    ),
    errors: ['COULD_NOT_VALIDATE'],
  },
  async ({ engine }) => ({ data: [{ name: 'default', token: await engine.network.token() }] }),
)

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

/** Shows which trust anchors may authenticate identities with rights. */
export const listTrustOperation = defineOperation(
  {
    route: 'GET /trust-anchors',
    summary: 'Lists the CAs and external JWT signers with the trust that they have',
    description:
      'The caller gets the kinds that it may read. A record that an administrator made is trusted; a record that a delegate made or changed is not.',
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
