import { ControllerError, TooManyAttempts } from '../../domain/errors.ts'
import { codeLockoutMs, withFailedCode } from '../../domain/login/code-attempts.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { mfas } from '../../resources/login/mfas.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'

export type MfaRecord = RecordOf<typeof mfas>

/** What a code is accepted for: one-time passwords only, or recovery codes too. */
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
export function totpSecretOf({ sealer }: EngineContext, mfa: MfaRecord): Promise<string> {
  return sealer.open(mfa.secret, purposeOf('secret', mfa.identityId))
}

/** Binds what is sealed to its place, so that it opens nowhere else. */
export function purposeOf(part: 'codes' | 'secret', identityId: string): string {
  return `mfa ${part} of ${identityId}`
}

/**
 * Accepts a code once and acts on it in the same write: of any number of concurrent callers with one code, one succeeds.
 * Errors: `MFA_INVALID_TOKEN`, which counts, and `RATE_LIMITED` once too many counted, for right codes as well.
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
  // Digests are compared, so that the time says nothing about how much of a code was right.
  const wanted = context.digest.sha256(code)
  const unused = codes.filter((one) => context.digest.sha256(one) !== wanted)
  if (unused.length === codes.length) return undefined
  const sealedCodes = await context.sealer.seal(JSON.stringify(unused), purposeOf('codes', mfa.identityId))
  return (current) => (current.sealedCodes === mfa.sealedCodes ? { ...current, sealedCodes, failedAt: [] } : 'stale')
}
