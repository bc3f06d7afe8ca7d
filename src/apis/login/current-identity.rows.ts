import { z } from 'zod'
import { callerOf } from '../../context/call.ts'
import {
  type Authenticators,
  authenticators,
  OwnPasswordChange,
  OwnPasswordReplacement,
} from '../../facts/credentials/authenticator.resource.ts'
import { type Identities, identities } from '../../facts/identities/identity.resource.ts'
import type { DetailOf } from '../../facts/resources/wire-forms.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { done } from '../../http/operations/operation.ts'
import { Pem } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { equals } from '../../kernel/filter/index.ts'

const LINKS = { self: { href: './current-identity' }, mfa: { href: './current-identity/mfa' } }

/** The identity of the caller. */
export const currentIdentity = defineOperation(
  {
    route: 'GET /current-identity',
    summary: 'Shows the identity of the caller',
    access: 'authenticated',
    data: wireSchema(identities),
  },
  async ({ engine, call }) => ({
    data: engine.reader.texts.variantOf(
      await engine.reader.show(call, identities, callerOf(call).identity),
      withOwnLinks,
    ),
  }),
)

/** Its links lead to the caller's own resources. */
function withOwnLinks(detail: DetailOf<Identities>): DetailOf<Identities> {
  return { ...detail, _links: LINKS }
}

/** The caller's own credentials. Those of other identities do not exist here. */
export const currentIdentityAuthenticatorOperations = [
  defineOperation(
    {
      route: 'GET /current-identity/authenticators',
      summary: 'Lists the authenticators of the caller',
      access: 'authenticated',
      data: wireSchema(authenticators),
      symbols: authenticators.symbols,
    },
    async ({ engine, call, find }) => {
      const own = equals('identityId', callerOf(call).identity.id)
      const page = await engine.reader.list(call, authenticators, find, async () => own)
      return { page: { ...page, items: page.items.map(asOwn) } }
    },
  ),
  defineOperation(
    {
      route: 'GET /current-identity/authenticators/{id}',
      summary: 'Shows an authenticator of the caller',
      access: 'authenticated',
      data: wireSchema(authenticators),
    },
    async ({ engine, call, params }) => {
      const { identity } = callerOf(call)
      const isOwn = async (_tx: unknown, found: { readonly identityId: string }) => found.identityId === identity.id
      return { data: asOwn(await engine.reader.get(call, authenticators, params.id, isOwn)) }
    },
  ),
  defineOperation(
    {
      route: 'PUT /current-identity/authenticators/{id}',
      summary: "Replaces the caller's username and password, given the current password",
      description: 'For a username and password alone. A wrong `currentPassword` is answered 401.',
      access: 'authenticated',
      body: OwnPasswordReplacement,
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR'],
    },
    async ({ engine, call, params, request }) => done(engine.authenticators.replaceOwn(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'PATCH /current-identity/authenticators/{id}',
      summary: "Changes the caller's username or password, given the current password",
      description: 'For a username and password alone. A wrong `currentPassword` is answered 401.',
      access: 'authenticated',
      body: OwnPasswordChange,
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR'],
    },
    async ({ engine, call, params, request }) => done(engine.authenticators.patchOwn(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'POST /current-identity/authenticators/{id}/extend',
      summary: "Issues the next certificate for the caller's current one, which stays good until the next is confirmed",
      description:
        'To be called over a connection with the certificate that is to be replaced, which this network issued. Calling it again replaces the next certificate.',
      access: 'authenticated',
      body: described(z.object({ clientCertCsr: Pem }), {
        clientCertCsr: 'The signing request for the next certificate, PEM.',
      }),
      data: described(z.object({ ca: z.string(), clientCert: z.string() }), {
        ca: 'The CA certificates of the network, PEM.',
        clientCert: 'The next certificate, with its intermediates, PEM.',
      }),
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR', 'COULD_NOT_PROCESS_CSR'],
    },
    async ({ engine, call, params, body }) => {
      const clientCert = await engine.certificateExtension.extend(call, params.id, body.clientCertCsr)
      return { data: { ca: engine.network.caPem, clientCert } }
    },
  ),
  defineOperation(
    {
      route: 'POST /current-identity/authenticators/{id}/extend-verify',
      summary: 'Confirms that the next certificate arrived; it alone is good from then on',
      description: 'To be called over a connection with the certificate that is being replaced.',
      access: 'authenticated',
      body: described(z.object({ clientCert: Pem }), { clientCert: 'The certificate that arrived, PEM.' }),
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR', 'INVALID_CLIENT_CERT'],
    },
    async ({ engine, call, params, body }) =>
      done(engine.certificateExtension.verify(call, params.id, body.clientCert)),
  ),
] as const

function asOwn(detail: DetailOf<Authenticators>): DetailOf<Authenticators> {
  return { ...detail, _links: { self: { href: `./current-identity/authenticators/${String(detail.id)}` } } }
}
