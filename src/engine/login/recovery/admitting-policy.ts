import type { PasswordRules } from '../../../domain/login/password-rules.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { authPolicies } from '../../../resources/login/auth-policies.ts'
import { externalJwtSigners } from '../../../resources/login/external-jwt-signers.ts'
import { PLAIN_PASSWORDS } from '../../credentials/auth-policies.ts'
import { ifReadable } from '../../records/damaged-records.ts'

type AuthPolicy = RecordOf<typeof authPolicies>

/** An auth policy that is there, or one that is still to be written. */
export interface PolicyChoice {
  readonly id: string
  readonly own?: Omit<AuthPolicy, 'id' | 'createdAt' | 'updatedAt'>
}

const DEFAULT_ID = 'default'

/** For an administrator whom neither its own policy nor the default one lets in: nobody else has it. */
const RECOVERY_POLICY = {
  name: 'Administrator recovery',
  tags: {},
  isSystem: false,
  primary: {
    cert: { allowExpiredCerts: false, allowed: false },
    extJwt: { allowed: false, allowedSigners: [] },
    updb: PLAIN_PASSWORDS,
  },
  secondary: { requireExtJwtSigner: null, requireTotp: false },
} as const

/**
 * The auth policy under which a password lets an administrator in: the one that it has, else the default one, else one of
 * its own. No policy of others is changed. With `passwordOnly` it asks for nothing besides.
 */
export async function admittingPolicy(
  tx: ReadTransaction,
  current: string,
  passwordOnly = false,
): Promise<PolicyChoice> {
  for (const id of [current, DEFAULT_ID]) {
    const policy = await ifReadable(() => tx.collection(authPolicies).get(id))
    if (policy !== undefined && (await letsIn(tx, policy, passwordOnly))) return { id }
  }
  return { id: '', own: RECOVERY_POLICY }
}

/** What the policy asks of a password. */
export async function rulesOf(tx: ReadTransaction, { id, own }: PolicyChoice): Promise<PasswordRules> {
  const policy = own ?? (await tx.collection(authPolicies).get(id)) ?? RECOVERY_POLICY
  return policy.primary.updb
}

async function letsIn(
  tx: ReadTransaction,
  { primary, secondary }: AuthPolicy,
  passwordOnly: boolean,
): Promise<boolean> {
  if (!primary.updb.allowed) return false
  if (passwordOnly) return !secondary.requireTotp && !secondary.requireExtJwtSigner
  if (!secondary.requireExtJwtSigner) return true
  const id = secondary.requireExtJwtSigner
  const signer = await ifReadable(() => tx.collection(externalJwtSigners).get(id))
  return signer?.enabled === true && signer.mayAuthenticateAdmins
}
