/** The rules of an auth policy for passwords. */
export interface PasswordRules {
  readonly minPasswordLength: number
  readonly requireMixedCase: boolean
  readonly requireNumberChar: boolean
  readonly requireSpecialChar: boolean
}

const MAX_PASSWORD_LENGTH = 100

/**
 * The rule of an auth policy that a password breaks; `undefined` for an acceptable password. Length is counted in code points. Letters and
 * digits of every script count; all other characters are special characters.
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
/** Common words in passwords, often with digits and marks added. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  'admin administrator changeme default letmein openziti passwd password passwort portcullis qwerty qwertyuiop secret welcome ziti'.split(
    ' ',
  ),
)

/**
 * The weakness of an administrator's password, for a warning; `undefined` without a known weakness. A weak password is short, close to the
 * username, a common word with digits and marks, or made of few characters.
 */
export function adminPasswordWeakness(password: string, username: string): string | undefined {
  const [folded, name] = [password.toLowerCase(), username.toLowerCase()]
  if ([...password].length < LEAST_ADMIN_LENGTH) return `it has fewer than ${LEAST_ADMIN_LENGTH} characters`
  if (folded.replaceAll(name, '').length < LEAST_DISTINCT) return 'it is little more than the username'
  if (COMMON_WORDS.has(folded.replaceAll(/[^\p{L}]/gu, ''))) return 'it is a common word'
  return new Set(folded).size < LEAST_DISTINCT ? 'it is made of few characters' : undefined
}
