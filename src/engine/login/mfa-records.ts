import { ControllerError } from '../../domain/errors.ts'
import { equals } from '../../domain/filter/index.ts'
import { UniqueViolation, type WriteTransaction } from '../../ports/storage.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { authRequests } from '../../resources/login/auth-requests.ts'
import { mfas } from '../../resources/login/mfas.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { forgetMfaPasses } from '../posture/posture-store.ts'
import { findOne } from '../records/find-one.ts'
import { newRecord } from '../records/new-record.ts'
import { type MfaRecord, newRecoveryCodes, purposeOf, recoveryCodesOf, totpSecretOf } from './mfa-codes.ts'

/** What an authenticator app needs, and the codes for the day it is lost. */
export interface MfaSecrets {
  readonly provisioningUrl: string
  readonly recoveryCodes: readonly string[]
}

/** A pending enrollment of an identity, with secrets of its own; not stored yet. */
export async function newMfa(context: EngineContext, identityId: string): Promise<MfaRecord> {
  const { clock, random, sealer, totp } = context
  const now = clock.now()
  return newRecord(random.id(), now, {
    identityId,
    isVerified: false,
    secret: await sealer.seal(await totp.newSecret(), purposeOf('secret', identityId)),
    sealedCodes: await newRecoveryCodes(context, identityId),
    lastStep: -1,
    failedAt: [],
  })
}

/** Stores an enrollment. Error: `MFA_EXISTS` when the identity has one. */
export async function insertMfa(context: EngineContext, call: Call, record: MfaRecord): Promise<void> {
  try {
    await context.writes.run(call, (tx) => tx.collection(mfas).insert(record))
  } catch (error) {
    if (error instanceof UniqueViolation) throw new ControllerError('MFA_EXISTS')
    throw error
  }
}

/** What is shown of an enrollment while it is pending; `name` is the account in authenticator apps. */
export async function mfaSecretsOf(context: EngineContext, mfa: MfaRecord, name: string): Promise<MfaSecrets> {
  const secret = await totpSecretOf(context, mfa)
  return {
    provisioningUrl: await context.totp.provisioningUrl(secret, context.settings.totpIssuer, name),
    recoveryCodes: await recoveryCodesOf(context, mfa),
  }
}

/**
 * Ends the enrollment of an identity, if it has one. Without a second factor no session has passed one, and none needs it
 * but by its auth policy. A login under way that passed it begins anew; the one on whose auth request it is removed goes on
 * without it.
 */
export async function removeMfa(
  context: EngineContext,
  tx: WriteTransaction,
  identityId: string,
  removedOn?: string,
): Promise<void> {
  const mfa = await findOne(tx, mfas, 'identityId', identityId)
  if (mfa === undefined) return
  await tx.collection(mfas).delete(mfa.id)
  const { items } = await tx.collection(apiSessions).find({ where: equals('identityId', identityId) })
  for (const session of items.filter(({ isMfaRequired }) => isMfaRequired)) {
    await tx.collection(apiSessions).update({ ...session, isMfaRequired: false, isMfaComplete: false })
  }
  const { items: underWay } = await tx.collection(authRequests).find({ where: equals('identityId', identityId) })
  for (const request of underWay) {
    if (!request.login?.hasPassedTotp) continue
    const login = request.id === removedOn ? { ...request.login, hasPassedTotp: false } : null
    await tx.collection(authRequests).update({ ...request, login, codeDigests: [] })
  }
  await forgetMfaPasses(context, tx, identityId, context.clock.now())
}
