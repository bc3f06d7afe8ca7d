import { z } from 'zod'
import { type ApiSessionCertificates, apiSessionCertificates } from '../../facts/login/api-session.resource.ts'
import type { DetailOf } from '../../facts/resources/wire-forms.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { done } from '../../http/operations/operation.ts'
import { Links, Pem } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { SymbolTable } from '../../kernel/filter/index.ts'

const PATH = './current-api-session/certificates'
/** All of them belong to the caller's session, so a filter finds nothing beyond it. */
const SYMBOLS: SymbolTable = {
  ...apiSessionCertificates.symbols,
  apiSession: { field: 'apiSessionId', kind: 'string' },
}
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
      description: 'The certificate of the login has the id of the session, and is not deleted here.',
      access: 'authenticated',
      data: wireSchema(apiSessionCertificates),
      symbols: SYMBOLS,
    },
    async ({ engine, call, find }) => {
      const { items, totalCount } = await engine.sessionCertificates.list(call, find)
      const shown = await Promise.all(items.map((one) => engine.reader.show(call, apiSessionCertificates, one)))
      return { page: { items: shown.map(asOwn), totalCount } }
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
      const found = await engine.sessionCertificates.get(call, params.id)
      return { data: asOwn(await engine.reader.show(call, apiSessionCertificates, found)) }
    },
  ),
  defineOperation(
    {
      route: 'DELETE /current-api-session/certificates/{id}',
      summary: 'Deletes a certificate of the API session',
      access: 'authenticated',
      errors: ['COULD_NOT_VALIDATE', 'ENTITY_CAN_NOT_BE_DELETED'],
    },
    async ({ engine, call, params }) => done(engine.sessionCertificates.delete(call, params.id)),
  ),
] as const

function asOwn(detail: DetailOf<ApiSessionCertificates>): DetailOf<ApiSessionCertificates> {
  return { ...detail, _links: { self: { href: `${PATH}/${String(detail.id)}` } } }
}
