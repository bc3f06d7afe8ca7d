import { callerOf } from '../../engine/context/call.ts'
import { identities } from '../../resources/identities/identities.ts'
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
    data: { ...(await engine.reader.show(call, identities, callerOf(call).identity)), _links: LINKS },
  }),
)
