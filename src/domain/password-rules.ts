/** What an auth policy asks of passwords (interface: Auth policy, `primary.updb`). */
export interface PasswordRules {
  readonly minPasswordLength: number
  readonly requireMixedCase: boolean
  readonly requireNumberChar: boolean
  readonly requireSpecialChar: boolean
}

const MAX_PASSWORD_LENGTH = 100

/**
 * Why a password may not be set under the rules of an auth policy, or `undefined` for one that may. Length is counted in
 * characters as people see them typed (code points); letters and digits of every script count, and whatever is neither is
 * a special character.
 */
export function passwordWeakness(password: string, rules: PasswordRules): string | undefined {
  const length = [...password].length
  if (length < rules.minPasswordLength) return `should be at least ${rules.minPasswordLength} chars long`
  if (length > MAX_PASSWORD_LENGTH) return `should be at most ${MAX_PASSWORD_LENGTH} chars long`
  if (rules.requireMixedCase && !(/\p{Lu}/u.test(password) && /\p{Ll}/u.test(password))) {
    return 'should contain an upper-case and a lower-case letter'
  }
  if (rules.requireNumberChar && !/\p{Nd}/u.test(password)) return 'should contain a digit'
  if (rules.requireSpecialChar && !/[^\p{L}\p{N}]/u.test(password)) return 'should contain a special character'
  return undefined
}
