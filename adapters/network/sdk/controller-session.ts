import { hostname, release } from 'node:os'
import { type ApiClient, ApiError, type ClientApi, createClient, type Fetch } from '../../../src/client/index.ts'
import { renewAfter } from '../../../src/facts/data-plane/sdk-dialing.ts'
import { VERSION } from '../../../src/version.ts'
import type { Timer } from '../channel/conversation.ts'
import { type BearerLogin, logInForTokens, refreshTokens } from './bearer-login.ts'
import { ConnectionFailure, failureOf } from './connection-failure.ts'

/** How an identity logs in. */
export interface SessionOptions {
  /** `https://HOST:PORT`, in the order in which they are tried. */
  readonly controllers: readonly string[]
  /** Shows the identity's certificate. */
  readonly fetch: Fetch
  /** `bearer` for tokens of OpenID Connect, `api-session` for a session that the controller keeps; `auto` asks the controller. */
  readonly sessions: 'auto' | 'api-session' | 'bearer'
  readonly timer: Timer
  secondFactor?(): Promise<string>
  /** Begins a session in another way than by certificate; answers its token. The caller ends what it began. */
  logIn?(): Promise<string>
  /** Work in each new session before it is used, such as to report the posture. */
  onLogin?(api: ApiClient<ClientApi>): Promise<void>
  /** A session takes the place of one before it. */
  onNewSession?(): void
  /** The session was begun or renewed. */
  onAlive?(): void
  /** An access token replaces the one before it, in the same session. */
  onNewToken?(accessToken: string): void
}

interface Session {
  readonly token: string
  readonly origin: string
  readonly isBearer: boolean
  readonly refreshToken?: string | undefined
}

/** The session of an identity at its controllers: begun with the first call, renewed before it ends, begun again when it is over. */
export class ControllerSession {
  readonly #options: SessionOptions
  #session: Promise<Session> | undefined
  #stopRenewal: () => void = () => undefined
  #isClosed = false
  #lastToken = ''

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** The token of the session, which routers are shown as well. Rejects with a {@link ConnectionFailure}. */
  async token(): Promise<string> {
    return (await this.#current()).token
  }

  /**
   * Does something by the client API; once more in a new session when that had ended, or at another controller when this one is
   * gone. Rejects with a {@link ConnectionFailure} that begins with `task`.
   */
  async call<T>(task: string, work: (api: ApiClient<ClientApi>) => Promise<T>): Promise<T> {
    try {
      return await this.plain(work)
    } catch (error) {
      throw failureOf(error, task)
    }
  }

  /** The same; rejects with the error of the client API as it is, and with a {@link ConnectionFailure} where there is no session. */
  async plain<T>(work: (api: ApiClient<ClientApi>) => Promise<T>): Promise<T> {
    const session = await this.#current()
    try {
      return await work(this.#apiOf(session))
    } catch (error) {
      if (!this.#mayBeStale(error)) throw error
      this.forget(session.token)
    }
    return work(this.#apiOf(await this.#current()))
  }

  /** The client API in the current session; begins one where there is none. */
  async api(): Promise<ApiClient<ClientApi>> {
    return this.#apiOf(await this.#current())
  }

  /** Begins a new session where the controller says that this one is over; without a controller it stays as it is. */
  async renewIfOver(): Promise<void> {
    try {
      await this.call('session', (api) => api.call('GET /current-identity'))
    } catch (error) {
      if (failureOf(error, 'session').code !== 'CONTROLLER_UNREACHABLE') throw error
    }
  }

  /** The session is over: the next call begins a new one. */
  forget(token: string): void {
    const known = this.#session
    known?.then(
      (session) => {
        if (session.token === token && this.#session === known) this.#session = undefined
      },
      () => undefined,
    )
    // A question at once gets the new one already.
    if (known !== undefined && this.#lastToken === token) this.#session = undefined
  }

  /** Another certificate is shown from now on. Access tokens name the one before, so that the next call asks for others. */
  async changeCertificate(): Promise<void> {
    const { token, isBearer } = await this.#current()
    if (isBearer) this.forget(token)
  }

  /** Ends the session, if there is one. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopRenewal()
    const session = await this.#session?.catch(() => undefined)
    if (session === undefined || this.#options.logIn !== undefined) return
    // It ends by itself as well: nobody waits for a controller that is gone.
    await this.#apiOf(session)
      .call('DELETE /current-api-session', { signal: AbortSignal.timeout(2000) })
      .catch(() => undefined)
  }

  #current(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(new ConnectionFailure('CLOSED', 'the identity is closed'))
    if (this.#session !== undefined) return this.#session
    const session = this.#begin()
    this.#session = session
    session.catch(() => {
      if (this.#session === session) this.#session = undefined
    })
    return session
  }

  async #begin(): Promise<Session> {
    let failure: unknown
    for (const origin of this.#options.controllers) {
      try {
        return await this.#logInAt(origin)
      } catch (error) {
        failure = error
        const { code } = failureOf(error, 'login')
        if (code !== 'CONTROLLER_UNREACHABLE') break
      }
    }
    throw failureOf(failure, 'login')
  }

  async #logInAt(origin: string): Promise<Session> {
    const { fetch, onLogin } = this.#options
    const session = await this.#newSession(origin, createClient({ baseUrl: origin, fetch }))
    if (this.#lastToken !== '') this.#options.onNewSession?.()
    this.#lastToken = session.token
    await onLogin?.(this.#apiOf(session))
    this.#options.onAlive?.()
    return session
  }

  async #newSession(origin: string, api: ApiClient<ClientApi>): Promise<Session> {
    const { logIn } = this.#options
    if (logIn === undefined) {
      return (await this.#wantsBearer(origin)) ? this.#logInForTokens(origin) : this.#logInByApi(api, origin)
    }
    const token = await logIn()
    const { data } = await api.withToken(token).call('GET /current-api-session')
    this.#renewLater(data.expirationSeconds, () => this.#touch(token))
    return { token, origin, isBearer: false }
  }

  async #wantsBearer(origin: string): Promise<boolean> {
    const { sessions, fetch } = this.#options
    if (sessions !== 'auto') return sessions === 'bearer'
    const { data } = await createClient({ baseUrl: origin, fetch }).call('GET /version')
    // Controllers that are several keep no sessions that only one of them knows.
    return data.capabilities?.includes('HA_CONTROLLER') === true && data.capabilities.includes('OIDC_AUTH')
  }

  async #logInByApi(api: ApiClient<ClientApi>, origin: string): Promise<Session> {
    const answer = await api.call('POST /authenticate', { query: { method: 'cert' }, body: TOLD })
    const { token, expirationSeconds, authQueries } = answer.data
    if (authQueries.length > 0) await this.#proveSecondFactor(api.withToken(token))
    this.#renewLater(expirationSeconds, () => this.#touch(token))
    return { token, origin, isBearer: false }
  }

  async #proveSecondFactor(api: ApiClient<ClientApi>): Promise<void> {
    const { secondFactor } = this.#options
    if (secondFactor === undefined) {
      throw new ConnectionFailure(
        'SECOND_FACTOR_NEEDED',
        'the login needs a second factor: give openIdentity a secondFactor',
      )
    }
    await api.call('POST /authenticate/mfa', { body: { code: await secondFactor() } })
  }

  async #logInForTokens(origin: string): Promise<Session> {
    const login = this.#bearerLogin(origin)
    const { accessToken: token, refreshToken, expiresIn } = await logInForTokens(login)
    this.#renewLater(expiresIn, () => this.#refresh(login, token, refreshToken))
    return { token, origin, isBearer: true, refreshToken }
  }

  #bearerLogin(origin: string): BearerLogin {
    const { fetch, secondFactor } = this.#options
    return { origin, fetch, told: TOLD, ...(secondFactor && { secondFactor }) }
  }

  #renewLater(lifetimeSeconds: number, renew: () => Promise<void>): void {
    this.#stopRenewal()
    this.#stopRenewal = this.#options.timer(renewAfter(lifetimeSeconds * 1000, Math.random()), () => {
      // A controller that is away answers the next call, which begins a new session then.
      renew().catch(() => undefined)
    })
  }

  /** A session lasts while it is used. */
  async #touch(token: string): Promise<void> {
    const { data } = await this.call('session', (api) => api.call('GET /current-api-session'))
    if (this.#lastToken !== token) return
    this.#renewLater(data.expirationSeconds, () => this.#touch(token))
    this.#options.onAlive?.()
  }

  async #refresh(login: BearerLogin, token: string, refreshToken: string | undefined): Promise<void> {
    if (refreshToken === undefined || this.#lastToken !== token) return
    const renewed = await refreshTokens(login, refreshToken)
    if (this.#isClosed) return
    this.#lastToken = renewed.accessToken
    const session = {
      token: renewed.accessToken,
      origin: login.origin,
      isBearer: true,
      refreshToken: renewed.refreshToken,
    }
    this.#session = Promise.resolve(session)
    this.#renewLater(renewed.expiresIn, () => this.#refresh(login, renewed.accessToken, renewed.refreshToken))
    this.#options.onNewToken?.(renewed.accessToken)
    this.#options.onAlive?.()
  }

  /** Whether a call may go well in a new session, or at another controller. */
  #mayBeStale(error: unknown): boolean {
    if (error instanceof ConnectionFailure) return false
    return error instanceof ApiError ? error.status === 401 : this.#options.controllers.length > 1
  }

  #apiOf({ origin, token }: Session): ApiClient<ClientApi> {
    return createClient({ baseUrl: origin, fetch: this.#options.fetch, token })
  }
}

/** Facts of the program and its machine, for controllers and posture checks. */
const TOLD = {
  sdkInfo: { type: 'portcullis-sdk', version: VERSION },
  envInfo: { os: process.platform, arch: process.arch, osRelease: release(), hostname: hostname() },
}
