import { ControllerError } from '../base/errors.ts'
import { type AuthPolicies, authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { missingOf } from '../records/references.ts'

type AuthPolicy = RecordOf<typeof authPolicies>

const MIN_PASSWORD_LENGTH = 5

/** The rules of the policies that the controller makes: passwords log in, with any characters, and are never locked. */
export const PLAIN_PASSWORDS = {
  allowed: true,
  lockoutDurationMinutes: 0,
  maxAttempts: 0,
  minPasswordLength: MIN_PASSWORD_LENGTH,
  requireMixedCase: false,
  requireNumberChar: false,
  requireSpecialChar: false,
} as const

/** The policy of every identity without another one, as a new network has it. */
export const DEFAULT_AUTH_POLICY = {
  name: 'Default',
  isSystem: true,
  primary: {
    cert: { allowExpiredCerts: true, allowed: true },
    extJwt: { allowed: true, allowedSigners: [] },
    updb: PLAIN_PASSWORDS,
  },
  secondary: { requireExtJwtSigner: null, requireTotp: false },
} as const

/** Keeps the numbers of an auth policy in range and its signers existing, and keeps the default policy. */
export const authPolicyBehaviour: Behaviour<AuthPolicies> = {
  resource: authPolicies,

  async guard(_context, tx, _call, change) {
    if (change.kind === 'delete') {
      if (change.before.isSystem) throw defaultIsNeeded(change.before)
      return undefined
    }
    const after = normalised(change.after)
    await checkSigners(tx, after)
    return after
  },
}

function normalised(policy: AuthPolicy): AuthPolicy {
  const { updb } = policy.primary
  return {
    ...policy,
    primary: {
      ...policy.primary,
      updb: {
        ...updb,
        minPasswordLength: Math.max(updb.minPasswordLength, MIN_PASSWORD_LENGTH),
        maxAttempts: Math.max(updb.maxAttempts, 0),
        lockoutDurationMinutes: Math.max(updb.lockoutDurationMinutes, 0),
      },
    },
    secondary: { ...policy.secondary, requireExtJwtSigner: policy.secondary.requireExtJwtSigner || null },
  }
}

async function checkSigners(tx: ReadTransaction, { primary, secondary }: AuthPolicy): Promise<void> {
  const allowed = primary.extJwt.allowedSigners.map((value, position) => {
    return { field: `primary.extJwt.allowedExtJwtSigners[${position}]`, value }
  })
  const required = secondary.requireExtJwtSigner
  const named = required ? [...allowed, { field: 'secondary.requiredExtJwtSigner', value: required }] : allowed
  const [missing] = await missingOf(
    tx,
    externalJwtSigners,
    named.map(({ value }) => value),
  )
  for (const { field, value } of named.filter((one) => one.value === missing).slice(0, 1)) {
    throw new ControllerError('NOT_FOUND', { field, reason: `external jwt signer with id ${value} not found`, value })
  }
}

function defaultIsNeeded({ id }: AuthPolicy): ControllerError {
  const reason = 'identities without an auth policy of their own use the default policy'
  return new ControllerError('CAN_NOT_DELETE_REFERENCED_ENTITY', { field: 'authPolicyId', reason, value: id })
}
