import { z } from 'zod'
import { equals } from '../../domain/filter/index.ts'
import { callerOf } from '../../engine/call.ts'
import type { Detail } from '../../engine/details/render.ts'
import { authenticators } from '../../resources/authenticators.ts'
import { Pem, Tags } from '../../resources/fields.ts'
import { DONE } from '../answers.ts'
import { Password, Username } from '../management/authenticators.ts'
import { defineOperation } from '../operation.ts'
import { wireSchema } from '../wire-schema.ts'

const currentPassword = z.string().max(100)
const Replacement = z.object({ currentPassword, password: Password, tags: Tags.default({}), username: Username })
const Change = z.object({
  currentPassword,
  password: Password.optional(),
  tags: Tags.optional(),
  username: Username.optional(),
})

/** The caller's own credentials. Somebody else's do not exist here. */
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
      access: 'authenticated',
      body: Replacement,
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR'],
    },
    async ({ engine, call, params, body }) => {
      await engine.authenticators.changeOwn(call, params.id, body.currentPassword, body)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'PATCH /current-identity/authenticators/{id}',
      summary: "Changes the caller's username or password, given the current password",
      access: 'authenticated',
      body: Change,
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR'],
    },
    async ({ engine, call, params, body }) => {
      await engine.authenticators.changeOwn(call, params.id, body.currentPassword, body)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'POST /current-identity/authenticators/{id}/extend',
      summary: "Issues the next certificate for the caller's current one, which stays good until the next is confirmed",
      access: 'authenticated',
      body: z.object({ clientCertCsr: Pem }),
      data: z.object({ ca: z.string(), clientCert: z.string() }),
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR', 'COULD_NOT_PROCESS_CSR'],
    },
    async ({ engine, call, params, body }) => {
      const clientCert = await engine.certificateExtension.extend(call, params.id, body.clientCertCsr)
      return { data: { ca: engine.context.pki.caBundlePem, clientCert } }
    },
  ),
  defineOperation(
    {
      route: 'POST /current-identity/authenticators/{id}/extend-verify',
      summary: 'Confirms that the next certificate arrived; it alone is good from then on',
      access: 'authenticated',
      body: z.object({ clientCert: Pem }),
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR', 'INVALID_CLIENT_CERT'],
    },
    async ({ engine, call, params, body }) => {
      await engine.certificateExtension.verify(call, params.id, body.clientCert)
      return DONE
    },
  ),
] as const

function asOwn(detail: Detail): Detail {
  return { ...detail, _links: { self: { href: `./current-identity/authenticators/${String(detail.id)}` } } }
}
