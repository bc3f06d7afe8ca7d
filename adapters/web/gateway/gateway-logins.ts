import { randomBytes } from 'node:crypto'
import { BoundedMap } from '../../../src/base/collections.ts'
import type { Identity } from '../../network/sdk/index.ts'
import { digest, isSame, newSecret } from './sealed-login.ts'

/** The login of a browser: one API session, by which apps are dialed on each of its hosts. */
export interface GatewayLogin {
  /** Names the login in cookies. It proves nothing. */
  readonly key: string
  /** The identity that logged in, by its own API session. */
  readonly identity: Identity
  readonly who: { readonly id: string; readonly name: string }
  readonly apiSessionId: string
  readonly startedAt: number
  usedAt: number
  /** Requests and websockets that are open. */
  open: number
  /** Digests of the cookies, by the label of their one host. */
  readonly cookies: BoundedMap<string, string>
  /** Digests of codes that hosts may exchange for a cookie, once. */
  readonly codes: BoundedMap<string, { readonly label: string; readonly loginId: string; readonly expiresAt: number }>
}

/** The bounds of logins; times in ms. */
export interface LoginLimits {
  readonly maxLogins: number
  readonly maxLoginsPerIdentity: number
  readonly idleMs: number
  readonly lifetimeMs: number
}

/** Milliseconds for a browser to follow a redirect. */
const CODE_MS = 30_000
const MOST_CODES = 16
/** Milliseconds for a controller to end an API session. Then the connections end without it. */
const ENDING_MS = 2000
/** Hosts of one login that have a cookie. */
const MOST_HOSTS = 256

/** The logins of browsers in this process. They end with their API session, with idleness, with age, or for a newer login. */
export class GatewayLogins {
  readonly #limits: LoginLimits
  readonly #now: () => number
  /** In the order of their last use, longest ago first. */
  readonly #logins = new Map<string, GatewayLogin>()
  readonly #byIdentity = new Map<string, Set<GatewayLogin>>()

  constructor(limits: LoginLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  get size(): number {
    return this.#logins.size
  }

  /** Adds a login. Where its identity, or the process, has too many, the login that was used longest ago ends. */
  add({ identity, who, apiSessionId }: Pick<GatewayLogin, 'identity' | 'who' | 'apiSessionId'>): GatewayLogin {
    const own = this.#byIdentity.get(who.id) ?? new Set()
    this.#byIdentity.set(who.id, own)
    if (own.size >= this.#limits.maxLoginsPerIdentity) {
      const [oldest] = [...own].sort((one, other) => one.usedAt - other.usedAt)
      if (oldest !== undefined) void this.end(oldest)
    }
    if (this.#logins.size >= this.#limits.maxLogins) {
      const [oldest] = this.#logins.values()
      if (oldest !== undefined) void this.end(oldest)
    }
    const now = this.#now()
    const login: GatewayLogin = {
      ...{
        key: randomBytes(16).toString('base64url'),
        identity,
        who,
        apiSessionId,
        startedAt: now,
        usedAt: now,
        open: 0,
      },
      cookies: new BoundedMap(MOST_HOSTS),
      codes: new BoundedMap(MOST_CODES),
    }
    this.#logins.set(login.key, login)
    // The set may have gone with its last login.
    this.#byIdentity.set(who.id, own.add(login))
    return login
  }

  /** The value of a new cookie, by which the login is found on one host. An earlier cookie of that host is void. */
  cookieFor(login: GatewayLogin, label: string): string {
    const secret = newSecret()
    login.cookies.set(label, digest(secret))
    return `${login.key}.${secret}`
  }

  /** The login of a cookie on a host; undefined if the cookie is forged, of another host, or over. */
  find(cookie: string | undefined, label: string): GatewayLogin | undefined {
    const [login, secret] = this.#named(cookie)
    const known = login?.cookies.get(label)
    if (login === undefined || known === undefined || !isSame(known, digest(secret))) return undefined
    if (this.#isOver(login)) {
      void this.end(login)
      return undefined
    }
    this.use(login)
    return login
  }

  /** The login was used now. */
  use(login: GatewayLogin): void {
    if (!this.#logins.delete(login.key)) return
    login.usedAt = this.#now()
    this.#logins.set(login.key, login)
  }

  /** A code that one host exchanges for a cookie, in the login that the browser began there. */
  codeFor(login: GatewayLogin, label: string, loginId: string): string {
    const secret = newSecret()
    login.codes.set(digest(secret), { label, loginId, expiresAt: this.#now() + CODE_MS })
    return `${login.key}.${secret}`
  }

  /** Takes a code, which is void from then on; undefined if it is forged, used, over, or for another host or login. */
  redeem(code: string, label: string, loginId: string): GatewayLogin | undefined {
    const [login, secret] = this.#named(code)
    const key = digest(secret)
    const known = login?.codes.get(key)
    login?.codes.delete(key)
    const isMeant = known !== undefined && known.label === label && known.loginId === loginId
    return isMeant && known.expiresAt > this.#now() ? login : undefined
  }

  /** Ends a login with its API session: its cookies are void, and its connections to apps are cut. */
  async end(login: GatewayLogin): Promise<void> {
    if (!this.#logins.delete(login.key)) return
    const own = this.#byIdentity.get(login.who.id)
    own?.delete(login)
    if (own?.size === 0) this.#byIdentity.delete(login.who.id)
    const signal = AbortSignal.timeout(ENDING_MS)
    await login.identity.client.call('DELETE /current-api-session', { signal }).catch(() => undefined)
    await login.identity.close()
  }

  /** Ends the logins whose time is over. */
  sweep(): void {
    for (const login of this.#logins.values()) {
      if (login.open > 0) login.usedAt = this.#now()
      if (this.#isOver(login)) void this.end(login)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#logins.values()].map((login) => this.end(login)))
  }

  #named(text = ''): readonly [GatewayLogin | undefined, string] {
    const [key = '', secret = ''] = text.split('.')
    return [this.#logins.get(key), secret]
  }

  #isOver({ startedAt, usedAt }: GatewayLogin): boolean {
    const now = this.#now()
    return now >= startedAt + this.#limits.lifetimeMs || now >= usedAt + this.#limits.idleMs
  }
}
