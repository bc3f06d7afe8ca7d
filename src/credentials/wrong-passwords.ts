import { SOON_MS, wasLastAdministrator } from '../authority/last-administrator.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { isDisabled } from '../facts/authority/authority.rules.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { afterFailure, isLocked, type LockoutRules } from '../facts/credentials/lockout.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { endReasonsOf } from '../records/deletion.ts'
import { writeInBatches } from '../records/write-batches.ts'
import { endApiSessions } from './login-basis.ts'

type Authenticator = RecordOf<typeof authenticators>

/** The longest lock, in milliseconds, that may shut out the last administrator; policies may lock for longer. */
const LAST_LOCK_MS = 60_000

/**
 * Counts a wrong password. The count is in the store and each write sees the one before, so concurrent attempts are all
 * counted. Under the profile of deployed controllers, one attempt too many also disables the identity, for as long as
 * the password is locked, and ends its API sessions.
 */
export async function recordWrongPassword(
  context: EngineContext,
  { id, identityId }: Pick<Authenticator, 'id' | 'identityId'>,
  rules: LockoutRules,
  now: number,
): Promise<void> {
  if (rules.maxAttempts === 0) return
  const { disablesLockedOut } = context.settings.profile
  const isShutOut = await context.writes.run(SYSTEM_CALL, async (tx) => {
    const known = await tx.collection(authenticators).get(id)
    if (known === undefined) return false
    const counted = { ...known, ...afterFailure(known, rules, now) }
    await tx.collection(authenticators).update(counted)
    const isNew = !isLocked(known, now) && isLocked(counted, now)
    if (!isNew) return false
    const isDisabling = disablesLockedOut && (await disable(context, tx, counted, now))
    if (isLocked(counted, now + SOON_MS) && (await wasLastAdministrator({ tx, pki: context.pki, now }, identityId))) {
      await tx.collection(authenticators).update({ ...counted, lockedUntil: now + LAST_LOCK_MS })
    }
    return isDisabling
  })
  if (!isShutOut) return
  await writeInBatches(
    context,
    SYSTEM_CALL,
    (tx, part) => endApiSessions(tx, 'identityId', identityId, part),
    endReasonsOf(apiSessions),
  )
}

/** Answers whether this disables the identity. The last administrator is never locked for long. */
async function disable(
  context: EngineContext,
  tx: WriteTransaction,
  locked: Authenticator,
  now: number,
): Promise<boolean> {
  const identity = await tx.collection(identities).get(locked.identityId)
  if (identity === undefined || isDisabled(identity, now)) return false
  const disabled = { ...identity, disabledAt: now, disabledUntil: locked.lockedUntil, updatedAt: now }
  await tx.collection(identities).update(disabled)
  if (!isDisabled(disabled, now + SOON_MS) || !(await wasLastAdministrator({ tx, pki: context.pki, now }, identity.id)))
    return true
  await tx.collection(identities).update(identity)
  return false
}
