import { callerOf } from '../../engine/context/call.ts'
import { variantOf } from '../../engine/records/wire-form/json-text.ts'
import { type Identities, identities } from '../../resources/identities/identities.ts'
import type { DetailOf } from '../../resources/wire/wire-forms.ts'
import { defineOperation } from '../operations/define-operation.ts'
import { wireSchema } from '../operations/wire-schema.ts'

const LINKS = { self: { href: './current-identity' }, mfa: { href: './current-identity/mfa' } }

/** The identity that the caller is. */
export const currentIdentity = defineOperation(
  {
    route: 'GET /current-identity',
    summary: 'Shows the identity of the caller',
    access: 'authenticated',
    data: wireSchema(identities),
  },
  async ({ engine, call }) => ({
    data: variantOf(await engine.reader.show(call, identities, callerOf(call).identity), withOwnLinks),
  }),
)

/** Its links lead to what is the caller's own. */
function withOwnLinks(detail: DetailOf<Identities>): DetailOf<Identities> {
  return { ...detail, _links: LINKS }
}
