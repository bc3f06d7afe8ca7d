import type { IncomingMessage } from 'node:http'
import type { Identity } from '../../network/sdk/index.ts'
import { CALLBACK_PATH, type GatewayHosts, LOGIN_PATH } from './gateway-hosts.ts'
import type { GatewayLogin, GatewayLogins } from './gateway-logins.ts'
import { type GatewayAnswer, redirect } from './gateway-pages.ts'
import { LoginFailed, type ProvidedLogin, type ProviderClient } from './provider-client.ts'
import { isSecret, LoginSeal, newSecret } from './sealed-login.ts'

/** The cookie of a login, on one host. Browsers take the prefix from no other host, and not without TLS. */
const SESSION_COOKIE = '__Host-portcullis-gateway'
/** The cookie of a browser that logs in. */
const LOGIN_COOKIE = '__Host-portcullis-gateway-login'
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'
const LOGIN_SECONDS = 600
/** The longest path that a login leads back to, in characters. A longer path would not fit into the state of a login. */
const MOST_PATH = 1000

/** The parts of a gateway that logins need. */
export interface LoginParts {
  readonly hosts: GatewayHosts
  readonly logins: GatewayLogins
  readonly provider: ProviderClient
  readonly now: () => number
  /** An identity of this process that acts by tokens. */
  openIdentity(tokens: ProvidedLogin): Identity
  onError(error: unknown): void
}

/**
 * Leads browsers from an app to the login page and back. A host sends a browser without a session to the home of the gateway. The home sends
 * it to the OpenID provider, unless it has a session there, and then back with a code. The host exchanges the code for a cookie of its own.
 * At each host the browser proves by a cookie that it began the login there: a link alone logs no browser in.
 */
export class BrowserLogins {
  readonly #parts: LoginParts
  readonly #seal = new LoginSeal()

  constructor(parts: LoginParts) {
    this.#parts = parts
  }

  /** Sends a browser that has no session on an app to the home, or from the home to the login page. */
  async begin(incoming: IncomingMessage, label: string, next: string): Promise<GatewayAnswer> {
    const { hosts, now, provider } = this.#parts
    const isHome = label === hosts.home
    const secret = loginSecret(incoming) ?? newSecret()
    const { state, id } = this.#seal.begin(label, next.length > MOST_PATH && !isHome ? '/' : next, secret, now())
    const cookie = `${LOGIN_COOKIE}=${secret}; Max-Age=${LOGIN_SECONDS}; ${ATTRIBUTES}`
    if (!isHome) {
      return redirect(`${hosts.originOf(hosts.home)}${LOGIN_PATH}?${new URLSearchParams({ state })}`, [cookie])
    }
    return redirect(await provider.loginUrl(state, this.#seal.derived(id, secret)), [cookie])
  }

  /** At home: takes the login of another host, and sends the browser back with a code, or to the login page first. */
  async atHome(incoming: IncomingMessage, query: URLSearchParams): Promise<GatewayAnswer> {
    const { hosts, logins, now } = this.#parts
    const state = query.get('state') ?? ''
    const asked = this.#seal.open(state, now())
    if (asked === undefined || asked.label === hosts.home) return LOGIN_OVER
    const login = await this.#living(incoming)
    if (login === undefined) return this.begin(incoming, hosts.home, state)
    const code = logins.codeFor(login, asked.label, asked.id)
    return redirect(`${hosts.originOf(asked.label)}${CALLBACK_PATH}?${new URLSearchParams({ code, state })}`)
  }

  /** Takes a browser back: at home from the OpenID provider, at an app from the home. */
  async callback(incoming: IncomingMessage, label: string, query: URLSearchParams): Promise<GatewayAnswer> {
    const state = query.get('state') ?? ''
    const secret = loginSecret(incoming)
    const underWay = this.#seal.open(state, this.#parts.now())
    if (underWay === undefined || underWay.label !== label || secret === undefined) return LOGIN_OVER
    if (!this.#seal.isBegunBy(underWay, secret)) return LOGIN_OVER
    const code = query.get('code') ?? ''
    return label === this.#parts.hosts.home
      ? this.#fromProvider(code, underWay.next, this.#seal.derived(underWay.id, secret))
      : this.#fromHome(code, label, underWay)
  }

  async #fromProvider(
    code: string,
    next: string,
    derived: { verifier: string; nonce: string },
  ): Promise<GatewayAnswer> {
    const { hosts, logins, onError, openIdentity, provider } = this.#parts
    try {
      const tokens = await provider.redeem(code, derived)
      const identity = openIdentity(tokens)
      const { id, name } = (await identity.client.call('GET /current-identity')).data
      const login = logins.add({ identity, who: { id, name }, apiSessionId: tokens.apiSessionId })
      const cookie = `${SESSION_COOKIE}=${logins.cookieFor(login, hosts.home)}; ${ATTRIBUTES}`
      // A page, and no redirect: browsers hold the form of the login page to the addresses that its page may send forms to.
      return {
        ...{ status: 200, title: 'Logged in', text: `Logged in as ${name}.`, code: 'LOGGED_IN' },
        leadsTo: next === '' ? '/' : `${LOGIN_PATH}?${new URLSearchParams({ state: next })}`,
        headers: { 'set-cookie': cookie },
      }
    } catch (error) {
      if (!(error instanceof LoginFailed)) onError(error)
      return LOGIN_OVER
    }
  }

  #fromHome(code: string, label: string, { id, next }: { readonly id: string; readonly next: string }): GatewayAnswer {
    const { hosts, logins } = this.#parts
    const login = logins.redeem(code, label, id)
    if (login === undefined) return LOGIN_OVER
    const cookie = `${SESSION_COOKIE}=${logins.cookieFor(login, label)}; ${ATTRIBUTES}`
    // The origin stands before the path, so that no path leads to another host.
    return redirect(`${hosts.originOf(label)}${next}`, [cookie])
  }

  /** The login of a browser at home, if its API session goes on. */
  async #living(incoming: IncomingMessage): Promise<GatewayLogin | undefined> {
    const { hosts, logins } = this.#parts
    const login = logins.find(sessionCookie(incoming), hosts.home)
    if (login === undefined) return undefined
    try {
      await login.identity.client.call('GET /current-identity')
      return login
    } catch {
      await logins.end(login)
      return undefined
    }
  }
}

const LOGIN_OVER: GatewayAnswer = {
  status: 400,
  title: 'This login is over',
  text: 'It was begun in another browser, took too long, or was used before. Open the app again to log in.',
  code: 'LOGIN_OVER',
}

/** The session cookie of a request; undefined where it has none, or more than one. */
export function sessionCookie(incoming: IncomingMessage): string | undefined {
  return cookieOf(incoming, SESSION_COOKIE)
}

function loginSecret(incoming: IncomingMessage): string | undefined {
  const secret = cookieOf(incoming, LOGIN_COOKIE)
  return isSecret(secret) ? secret : undefined
}

function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
    const [found = '', value = ''] = pair.trim().split('=')
    return found === name ? [value] : []
  })
  return values.length === 1 ? values[0] : undefined
}

/** Reports whether a cookie, `NAME=VALUE`, reads as one of the gateway: in any case, and also where a name is left out (`=NAME=VALUE`). */
export function isOwnCookie(pair: string): boolean {
  return pair
    .replace(/^[\s=]+/, '')
    .toLowerCase()
    .startsWith(SESSION_COOKIE.toLowerCase())
}
