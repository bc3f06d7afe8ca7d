import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A login under way, which only browsers keep: unknown clients cost the process no memory. */
export interface LoginUnderWay {
  /** The label of the host that began it. */
  readonly label: string
  /** At an app: the path to go back to. At home: the sealed login of the app; empty for the list of apps. */
  readonly next: string
  readonly id: string
  /** Digest of the secret of the browser that began it. */
  readonly browser: string
  /** Epoch ms. */
  readonly expiresAt: number
}

/** Milliseconds for a person to log in. */
const LIFETIME_MS = 600_000
const IV_BYTES = 12
const TAG_BYTES = 16
/** A random value of 32 bytes. */
const SECRET = /^[A-Za-z0-9_-]{43}$/

/** Seals logins under way, and derives the values by which a browser proves that it began its login. */
export class LoginSeal {
  readonly #key = randomBytes(32)

  /** Begins a login of a browser; answers its sealed form, and the parts of it that an OpenID provider is sent. */
  begin(label: string, next: string, secret: string, now: number): { readonly state: string; readonly id: string } {
    const id = randomBytes(16).toString('base64url')
    const login: LoginUnderWay = { label, next, id, browser: digest(secret), expiresAt: now + LIFETIME_MS }
    return { state: this.#seal(JSON.stringify(login)), id }
  }

  /** The login that was sealed; undefined when it is forged, of another process, or over. */
  open(state: string, now: number): LoginUnderWay | undefined {
    const text = this.#unseal(state)
    if (text === undefined) return undefined
    // Only this process can have sealed it.
    const login = JSON.parse(text) as LoginUnderWay
    return login.expiresAt > now ? login : undefined
  }

  /** Reports whether a browser with this secret began the login. */
  isBegunBy({ browser }: LoginUnderWay, secret: string | undefined): boolean {
    return secret !== undefined && isSame(browser, digest(secret))
  }

  /** The proof key of a login, and its nonce: they follow from the secret of its browser, and are kept nowhere. */
  derived(id: string, secret: string): { readonly verifier: string; readonly nonce: string } {
    const value = (purpose: string) =>
      createHmac('sha256', this.#key).update(`${purpose} ${id} ${secret}`).digest('base64url')
    return { verifier: value('verifier'), nonce: value('nonce') }
  }

  #seal(text: string): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv)
    return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
  }

  #unseal(sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      return undefined
    }
  }
}

/** A new secret of 32 random bytes, as base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function isSecret(text: string | undefined): text is string {
  return text !== undefined && SECRET.test(text)
}

/** SHA-256 as base64url. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Compares digests in a time that tells nothing of them. */
export function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
