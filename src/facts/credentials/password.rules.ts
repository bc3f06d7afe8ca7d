/** The rules of an auth policy for passwords. */
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

const LEAST_ADMIN_LENGTH = 12
const LEAST_DISTINCT = 5
/** Words that people take for a password, and then put digits and marks to. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  'admin administrator changeme default letmein openziti passwd password passwort portcullis qwerty qwertyuiop secret welcome ziti'.split(
    ' ',
  ),
)

/**
 * Why an administrator's password is easily guessed, for a warning; `undefined` for one that is not known to be. It is short,
 * little more than the username, a common word with digits and marks, or made of few characters.
 */
export function adminPasswordWeakness(password: string, username: string): string | undefined {
  const [folded, name] = [password.toLowerCase(), username.toLowerCase()]
  if ([...password].length < LEAST_ADMIN_LENGTH) return `it has fewer than ${LEAST_ADMIN_LENGTH} characters`
  if (folded.replaceAll(name, '').length < LEAST_DISTINCT) return 'it is little more than the username'
  if (COMMON_WORDS.has(folded.replaceAll(/[^\p{L}]/gu, ''))) return 'it is a common word'
  return new Set(folded).size < LEAST_DISTINCT ? 'it is made of few characters' : undefined
}
