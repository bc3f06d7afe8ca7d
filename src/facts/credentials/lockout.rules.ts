import { DAY_MS, MINUTE_MS } from '../../base/time.ts'
/** The lockout rules of an auth policy. 0 attempts: never; 0 minutes: until an admin unlocks the password. */
export interface LockoutRules {
  readonly maxAttempts: number
  readonly lockoutDurationMinutes: number
}

/** The attempts to use a password. Instants are epoch milliseconds. */
export interface PasswordAttempts {
  /** Failures since the last success. */
  readonly failedAttempts: number
  readonly lockedAt: number | null
  /** `null` for an unlocked password, and for a password that is locked until an admin unlocks it. */
  readonly lockedUntil: number | null
}

export const NO_FAILED_ATTEMPTS: PasswordAttempts = { failedAttempts: 0, lockedAt: null, lockedUntil: null }

/** The longest lock, minutes: longer locks end at an instant that no date can hold. */
const MOST_MINUTES = 2_147_483_647

/** Reports whether a password is locked at `now` (ms), so that not even the right one is accepted. */
export function isLocked({ lockedAt, lockedUntil }: PasswordAttempts, now: number): boolean {
  return lockedAt !== null && (lockedUntil === null || now < lockedUntil)
}

/** The attempts after another failure at `now` (ms). Failures during a lock neither count nor prolong it. */
export function afterFailure(known: PasswordAttempts, rules: LockoutRules, now: number): PasswordAttempts {
  if (isLocked(known, now)) return known
  const failedAttempts = (known.lockedAt === null ? known.failedAttempts : 0) + 1
  if (rules.maxAttempts === 0 || failedAttempts < rules.maxAttempts) return { ...NO_FAILED_ATTEMPTS, failedAttempts }
  const minutes = rules.lockoutDurationMinutes
  return {
    failedAttempts,
    lockedAt: now,
    lockedUntil: minutes === 0 ? null : now + Math.min(minutes, MOST_MINUTES) * MINUTE_MS,
  }
}

/** Wrong one-time codes that are accepted within a span of ms. The limit of a day makes guessing hopeless. */
const CODE_LIMITS = [
  { failures: 10, withinMs: 5 * 60_000 },
  { failures: 50, withinMs: DAY_MS },
] as const

const LONGEST_MS = Math.max(...CODE_LIMITS.map(({ withinMs }) => withinMs))

/**
 * Milliseconds for which every code is refused, by the instants of wrong codes (epoch ms, oldest first); 0 when a code may be tried at
 * `now`.
 */
export function codeLockoutMs(failedAt: readonly number[], now: number): number {
  const waits = CODE_LIMITS.map(({ failures, withinMs }) => {
    const decisive = failedAt.at(-failures)
    return decisive === undefined ? 0 : decisive + withinMs - now
  })
  return Math.max(0, ...waits)
}

/** The failures that still count after another failure at `now`. */
export function withFailedCode(failedAt: readonly number[], now: number): readonly number[] {
  return [...failedAt.filter((at) => now - at < LONGEST_MS), now]
}
