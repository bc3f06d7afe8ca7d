import { z } from 'zod'
import type { Call } from '../../context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { MfaCode } from '../../facts/login/login-requests.resource.ts'
import { mfas } from '../../facts/login/mfa.resource.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { Created, done } from '../../http/operations/operation.ts'
import { Links, Tags } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { MfaRecord } from '../../login/mfa-records.ts'

const HEADER = 'mfa-validation-code'
const SELF = './current-identity/mfa'

const Code = described(z.object({ code: MfaCode }), {
  code: 'A one-time password or, where one will do, a recovery code.',
})

const RecoveryCodes = described(
  z.object({
    _links: Links,
    createdAt: z.iso.datetime(),
    id: z.string(),
    recoveryCodes: z.array(z.string()),
    tags: Tags,
    updatedAt: z.iso.datetime(),
  }),
  { recoveryCodes: 'The codes that were not used yet, secrets.' },
)

/** The caller's second factor: enrolling, verifying, recovery codes, removal; and passing it in an API session. */
export const mfaOperations = [
  defineOperation(
    {
      route: 'POST /authenticate/mfa',
      summary: 'Completes the authentication of the session with a one-time password or a recovery code',
      description:
        'A recovery code is used up by it. MFA posture checks pass for the session from then on, so that a complete session calls it to renew them.',
      access: 'partial',
      body: Code,
      errors: ['MFA_NOT_ENROLLED', 'MFA_INVALID_TOKEN', 'RATE_LIMITED'],
    },
    async ({ engine, call, body }) => done(engine.mfa.authenticate(call, body.code)),
  ),
  defineOperation(
    {
      route: 'GET /current-identity/mfa',
      summary: 'Shows the MFA enrollment of the caller',
      description: 'With the provisioning URL and the recovery codes as long as the enrollment is pending.',
      access: 'partial',
      data: wireSchema(mfas),
      errors: ['NOT_FOUND'],
    },
    async ({ engine, call }) => ({ data: await shownMfa(engine, call, await engine.mfa.get(call)) }),
  ),
  defineOperation(
    {
      route: 'POST /current-identity/mfa',
      summary: 'Begins an MFA enrollment',
      description: 'It is pending, and asks nobody for codes, until it is verified.',
      access: 'partial',
      data: Created,
      status: 201,
      errors: ['MFA_EXISTS'],
    },
    async ({ engine, call }) => {
      const { id } = await engine.mfa.enroll(call)
      return { data: { _links: { self: { href: SELF } }, id } }
    },
  ),
  defineOperation(
    {
      route: 'DELETE /current-identity/mfa',
      summary: 'Ends the MFA enrollment of the caller; a complete one needs a code',
      description: 'MFA posture checks fail for all API sessions of the caller from then on.',
      access: 'authenticated',
      headers: [HEADER],
      errors: ['NOT_FOUND', 'MFA_INVALID_TOKEN', 'RATE_LIMITED'],
    },
    async ({ engine, call, headers }) => done(engine.mfa.remove(call, headers.get(HEADER) ?? '')),
  ),
  defineOperation(
    {
      route: 'POST /current-identity/mfa/verify',
      summary: 'Completes an MFA enrollment with a one-time password',
      description: 'The API session is complete by it. Further logins need a code from then on.',
      access: 'partial',
      body: Code,
      errors: ['NOT_FOUND', 'MFA_INVALID_TOKEN', 'RATE_LIMITED'],
    },
    async ({ engine, call, body }) => done(engine.mfa.verify(call, body.code)),
  ),
  defineOperation(
    {
      route: 'GET /current-identity/mfa/qr-code',
      summary: 'Draws the provisioning URL of a pending MFA enrollment',
      access: 'partial',
      produces: 'image/png',
      errors: ['NOT_FOUND'],
    },
    async ({ engine, call }) => ({ raw: await engine.mfa.qrCode(call) }),
  ),
  defineOperation(
    {
      route: 'GET /current-identity/mfa/recovery-codes',
      summary: 'Shows the unused recovery codes, given a one-time password',
      description: 'A recovery code is not good for it.',
      access: 'authenticated',
      headers: [HEADER],
      body: Code,
      bodyOptional: true,
      data: RecoveryCodes,
      errors: ['NOT_FOUND', 'MFA_INVALID_TOKEN', 'RATE_LIMITED'],
    },
    async ({ engine, call, headers, body }) => {
      const code = headers.get(HEADER) ?? body?.code ?? ''
      const { record, recoveryCodes } = await engine.mfa.recoveryCodes(call, code)
      const { id, tags } = record
      const [createdAt, updatedAt] = [new Date(record.createdAt), new Date(record.updatedAt)]
      return { data: { _links: linksOf(record), createdAt, id, recoveryCodes, tags, updatedAt } }
    },
  ),
  defineOperation(
    {
      route: 'POST /current-identity/mfa/recovery-codes',
      summary: 'Replaces the recovery codes',
      description: 'The codes before are void.',
      access: 'authenticated',
      body: Code,
      errors: ['NOT_FOUND', 'MFA_INVALID_TOKEN', 'RATE_LIMITED'],
    },
    async ({ engine, call, body }) => done(engine.mfa.renewRecoveryCodes(call, body.code)),
  ),
  defineOperation(
    {
      route: 'POST /current-api-session/totp-token',
      summary: 'Proves a recent one-time password to edge routers; for sessions that are made of tokens',
      description: 'API sessions of `zt-session` are not made of tokens: it is refused for them.',
      access: 'authenticated',
      body: Code,
      data: described(z.object({ issuedAt: z.iso.datetime(), token: z.string() }), {
        issuedAt: 'When the token was issued, RFC 3339.',
        token: 'A signed token that edge routers take as proof.',
      }),
      errors: ['NOT_FOUND', 'INVALID_BACKING_TOKEN_TYPE', 'MFA_NOT_ENROLLED', 'MFA_INVALID_TOKEN', 'RATE_LIMITED'],
    },
    async ({ engine, call, body }) => {
      const { token, issuedAt } = await engine.mfa.totpToken(call, body.code)
      return { data: { issuedAt: new Date(issuedAt), token } }
    },
  ),
] as const

async function shownMfa(engine: ControllerEngine, call: Call, record: MfaRecord) {
  const secrets = record.isVerified ? { recoveryCodes: null } : await engine.mfa.pendingSecrets(call)
  return { ...(await engine.reader.show(call, mfas, record)), ...secrets, _links: linksOf(record) }
}

function linksOf({ isVerified }: MfaRecord) {
  const further = isVerified
    ? { 'recovery-codes': { href: `${SELF}/recovery-codes` } }
    : { verify: { href: `${SELF}/verify` }, qr: { href: `${SELF}/qr-code` } }
  return { self: { href: SELF }, 'current-identity': { href: './current-identity' }, ...further }
}
