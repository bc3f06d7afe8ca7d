import { z } from 'zod'
import { equals } from '../../domain/filter/index.ts'
import { callerOf } from '../../engine/context/call.ts'
import { Links, Pem } from '../../resources/declaration/fields.ts'
import { described } from '../../resources/declaration/words.ts'
import { type ApiSessionCertificates, apiSessionCertificates } from '../../resources/login/api-session-certificates.ts'
import type { DetailOf } from '../../resources/wire/wire-forms.ts'
import { DONE } from '../operations/answers.ts'
import { defineOperation } from '../operations/define-operation.ts'
import { wireSchema } from '../operations/wire-schema.ts'

const PATH = './current-api-session/certificates'
const Issued = described(z.object({ _links: Links, cas: z.string(), certificate: z.string(), id: z.string() }), {
  cas: 'The CA certificates of the network, PEM.',
  certificate: 'The certificate and its intermediates, PEM.',
})

/** Short-lived certificates of the caller's API session. Those of other sessions do not exist here. */
export const sessionCertificateOperations = [
  defineOperation(
    {
      route: 'GET /current-api-session/certificates',
      summary: 'Lists the certificates of the API session',
      access: 'authenticated',
      data: wireSchema(apiSessionCertificates),
      symbols: apiSessionCertificates.symbols,
    },
    async ({ engine, call, find }) => {
      const own = equals('apiSessionId', callerOf(call).apiSession.id)
      const page = await engine.reader.list(call, apiSessionCertificates, find, async () => own)
      return { page: { ...page, items: page.items.map(asOwn) } }
    },
  ),
  defineOperation(
    {
      route: 'POST /current-api-session/certificates',
      summary: 'Issues a client certificate for the API session',
      description: 'It is good for the identity as long as the API session lasts, twelve hours at most.',
      access: 'authenticated',
      body: described(z.object({ csr: Pem }), { csr: 'The signing request, PEM. Only its key is taken over.' }),
      data: Issued,
      status: 201,
      errors: ['COULD_NOT_PROCESS_CSR'],
    },
    async ({ engine, call, body }) => {
      const { id, certificate } = await engine.sessionCertificates.create(call, body.csr)
      const _links = { self: { href: `${PATH}/${id}` } }
      return { data: { _links, cas: engine.network.caPem, certificate, id } }
    },
  ),
  defineOperation(
    {
      route: 'GET /current-api-session/certificates/{id}',
      summary: 'Shows a certificate of the API session',
      access: 'authenticated',
      data: wireSchema(apiSessionCertificates),
    },
    async ({ engine, call, params }) => {
      const { apiSession } = callerOf(call)
      const isOwn = async (_tx: unknown, found: { readonly apiSessionId: string }) =>
        found.apiSessionId === apiSession.id
      return { data: asOwn(await engine.reader.get(call, apiSessionCertificates, params.id, isOwn)) }
    },
  ),
  defineOperation(
    {
      route: 'DELETE /current-api-session/certificates/{id}',
      summary: 'Deletes a certificate of the API session',
      access: 'authenticated',
      errors: ['COULD_NOT_VALIDATE'],
    },
    async ({ engine, call, params }) => {
      await engine.sessionCertificates.delete(call, params.id)
      return DONE
    },
  ),
] as const

function asOwn(detail: DetailOf<ApiSessionCertificates>): DetailOf<ApiSessionCertificates> {
  return { ...detail, _links: { self: { href: `${PATH}/${String(detail.id)}` } } }
}
