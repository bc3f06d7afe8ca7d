import { forgetMfaPasses } from '../access/posture/posture-store.ts'
import { ControllerError, TooManyAttempts } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { codeLockoutMs, withFailedCode } from '../facts/credentials/lockout.rules.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { mfas } from '../facts/login/mfa.resource.ts'
import { authRequests } from '../facts/oidc/auth-request.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import { UniqueViolation, type WriteTransaction } from '../ports/record-storage.ts'
import { findOne, newRecord } from '../records/read-records.ts'

/** The secret for an authenticator app, and the recovery codes for its loss. */
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

/** Makes the secrets that are shown of a pending enrollment; `name` is the account in authenticator apps. */
export async function mfaSecretsOf(context: EngineContext, mfa: MfaRecord, name: string): Promise<MfaSecrets> {
  const secret = await totpSecretOf(context, mfa)
  return {
    provisioningUrl: await context.totp.provisioningUrl(secret, context.settings.totpIssuer, name),
    recoveryCodes: await recoveryCodesOf(context, mfa),
  }
}

/**
 * Ends the enrollment of an identity, if it has one. No session counts as having passed MFA then, and none needs it unless its auth
 * policy does. A login under way that passed it begins anew; the login on whose auth request it is removed goes on without it.
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

export type MfaRecord = RecordOf<typeof mfas>

/** The codes that are accepted: one-time passwords only, or recovery codes too. */
export type CodeKind = 'totp' | 'totp-or-recovery'

const RECOVERY_CODES = 20

/** Fresh recovery codes of an identity, as they are stored. */
export function newRecoveryCodes(context: EngineContext, identityId: string): Promise<string> {
  const { random, sealer, settings } = context
  const codes = Array.from({ length: RECOVERY_CODES }, () => random.base32(settings.profile.recoveryCodeLength))
  return sealer.seal(JSON.stringify(codes), purposeOf('codes', identityId))
}

/** The unused recovery codes of an identity. */
export async function recoveryCodesOf({ sealer }: EngineContext, mfa: MfaRecord): Promise<readonly string[]> {
  return JSON.parse(await sealer.open(mfa.sealedCodes, purposeOf('codes', mfa.identityId)))
}

/** The secret that an identity shares with its authenticator app. */
function totpSecretOf({ sealer }: EngineContext, mfa: MfaRecord): Promise<string> {
  return sealer.open(mfa.secret, purposeOf('secret', mfa.identityId))
}

/** Binds a sealed text to its place, so that it opens nowhere else. */
function purposeOf(part: 'codes' | 'secret', identityId: string): string {
  return `mfa ${part} of ${identityId}`
}

/**
 * Accepts a code once and acts on it in the same write: of any number of concurrent callers with one code, one succeeds. Errors:
 * `MFA_INVALID_TOKEN`, which counts, and `RATE_LIMITED` once too many counted, for right codes as well.
 */
export async function withCode(
  context: EngineContext,
  call: Call,
  mfa: MfaRecord,
  code: string,
  kind: CodeKind,
  act: (tx: WriteTransaction, accepted: MfaRecord) => Promise<void>,
): Promise<void> {
  const now = context.clock.now()
  const use = await useOf(context, mfa, code, kind, now)
  const outcome = await context.writes.run(call, async (tx) => {
    const current = await tx.collection(mfas).get(mfa.id)
    if (current === undefined) return 'wrong'
    const retryAfterMs = context.settings.profile.allowUnlimitedCodes ? 0 : codeLockoutMs(current.failedAt, now)
    if (retryAfterMs > 0) return { retryAfterMs }
    const accepted = use?.(current)
    if (accepted === 'stale') return 'stale'
    if (accepted === undefined) {
      await tx.collection(mfas).update({ ...current, failedAt: withFailedCode(current.failedAt, now) })
      return 'wrong'
    }
    await act(tx, accepted)
    return 'accepted'
  })
  if (outcome === 'accepted') return
  if (outcome === 'wrong') throw new ControllerError('MFA_INVALID_TOKEN')
  if (outcome !== 'stale') throw new TooManyAttempts(outcome.retryAfterMs)
  const current = await context.storage.read((tx) => tx.collection(mfas).get(mfa.id))
  if (current === undefined) throw new ControllerError('MFA_INVALID_TOKEN')
  return withCode(context, call, current, code, kind, act)
}

/** The record after a code was used on it; `undefined` when it was used already, `stale` when other codes were meanwhile. */
type Use = (current: MfaRecord) => MfaRecord | undefined | 'stale'

async function useOf(
  context: EngineContext,
  mfa: MfaRecord,
  code: string,
  kind: CodeKind,
  now: number,
): Promise<Use | undefined> {
  const step = await context.totp.stepOf(await totpSecretOf(context, mfa), code, now)
  if (step !== undefined) {
    const { allowTotpReuse } = context.settings.profile
    return (current) => {
      if (step <= current.lastStep && !allowTotpReuse) return undefined
      return { ...current, lastStep: Math.max(step, current.lastStep), failedAt: [] }
    }
  }
  if (kind === 'totp') return undefined
  const codes = await recoveryCodesOf(context, mfa)
  // Digests are compared, so that the time does not show how much of a code was right.
  const wanted = context.digest.sha256(code)
  const unused = codes.filter((one) => context.digest.sha256(one) !== wanted)
  if (unused.length === codes.length) return undefined
  const sealedCodes = await context.sealer.seal(JSON.stringify(unused), purposeOf('codes', mfa.identityId))
  return (current) => (current.sealedCodes === mfa.sealedCodes ? { ...current, sealedCodes, failedAt: [] } : 'stale')
}
