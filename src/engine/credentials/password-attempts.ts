import { isLocked, NO_FAILED_ATTEMPTS } from '../../domain/login/lockout.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { authenticators } from '../../resources/login/authenticators.ts'

type Authenticator = RecordOf<typeof authenticators>

/**
 * Admits a right password within the write that acts on it: `changed` when another verifier was stored in between, `locked`
 * while it is locked. Otherwise earlier failures are forgotten and the verifier is replaced by `fresh`, if given.
 */
export async function admitPassword(
  tx: WriteTransaction,
  checked: Authenticator,
  now: number,
  fresh?: string,
): Promise<'admitted' | 'changed' | 'locked'> {
  const current = await tx.collection(authenticators).get(checked.id)
  if (current === undefined || current.passwordHash !== checked.passwordHash) return 'changed'
  if (isLocked(current, now)) return 'locked'
  if (current.failedAttempts > 0 || fresh !== undefined) {
    const passwordHash = fresh ?? current.passwordHash
    await tx.collection(authenticators).update({ ...current, ...NO_FAILED_ATTEMPTS, passwordHash })
  }
  return 'admitted'
}
