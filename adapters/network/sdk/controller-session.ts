import {
  type ApiClient,
  ApiError,
  type ClientApi,
  type ClientOptions,
  createClient,
  type Fetch,
} from '../../../src/client/index.ts'
import { runtime, timeoutSignal } from '../../../src/concurrency/process-runtime.ts'
import { pauseAfter, renewAfter } from '../../../src/data-plane.ts'
import type { Timer } from '../channel/conversation.ts'
import { ConnectionFailure, type FailureCode, failureOf } from './connection-failure.ts'
import { answeredWithin, type LoginOptions, logInAt, refreshAt, type Session, within } from './session-login.ts'

/** A certificate that may be shown instead of the present one. */
export interface OtherCertificate {
  readonly fetch: Fetch
  /** A session began with it: it is shown from now on. */
  show(): void
}

/** The settings by which an identity logs in and stays logged in. */
export interface SessionOptions extends LoginOptions {
  /** `https://HOST:PORT`, in the order in which they are tried. */
  readonly controllers: readonly string[]
  readonly timer: Timer
  /** The certificate that is not shown, if the identity holds two and a controller takes only one of them. */
  otherCertificate?(): OtherCertificate | undefined
  /** Work in each new session before it is used, such as to report the posture. */
  onLogin?(api: ApiClient<ClientApi>): Promise<void>
  /** A new session replaced the former session. */
  onNewSession?(): void
  /** The session was begun or renewed. */
  onAlive?(): void
  /** A new access token replaced the former token of the same session. */
  onNewToken?(accessToken: string): void
}

/** Milliseconds without an answer after which the next controller is asked. */
const ANSWER_MS = 30_000
/** Milliseconds for a whole login, in which the user may have to read a code from an authenticator app. */
const LOGIN_MS = 120_000

/**
 * The session of an identity at its controllers: it begins with the first call, is renewed before its end, and begins again when it is
 * over. A renewal that fails is tried again with pauses, at every controller.
 */
export class ControllerSession {
  readonly #options: SessionOptions
  readonly #fetch: Fetch
  #session: Promise<Session> | undefined
  #stopRenewal: () => void = () => undefined
  #isClosed = false
  #lastToken = ''
  /** The token of the session that is held; undefined while none is, or while one is being begun. */
  #heldToken: string | undefined

  constructor(options: SessionOptions) {
    this.#fetch = answeredWithin(ANSWER_MS, options.fetch, options.timer)
    this.#options = { ...options, fetch: this.#fetch }
  }

  /** The token of the session, which routers are shown as well. Rejects with a {@link ConnectionFailure}. */
  async token(): Promise<string> {
    return (await this.#current()).token
  }

  /**
   * Calls the client API; calls again in a new session if the session had ended, and in the same session at another controller if this
   * controller is gone. Rejects with a {@link ConnectionFailure} that begins with `task`.
   */
  async call<T>(task: string, work: (api: ApiClient<ClientApi>) => Promise<T>): Promise<T> {
    try {
      return await this.plain(work)
    } catch (error) {
      throw failureOf(error, task)
    }
  }

  /**
   * The same; rejects with the error of the client API as it is, and with a {@link ConnectionFailure} where there is no session. A caller
   * that gave up by `signal` says nothing about the session.
   */
  plain<T>(work: (api: ApiClient<ClientApi>) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.within((options) => work(createClient(options)), signal)
  }

  /** The same for a client of any API of the controller. */
  async within<T>(work: (options: ClientOptions) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const session = await this.#current()
    let failure: unknown
    for (const origin of this.#inOrder(session.origin)) {
      try {
        const answer = await work(this.#optionsOf({ ...session, origin }))
        if (origin !== session.origin) this.#goOnAt({ ...session, origin })
        return answer
      } catch (error) {
        failure = error
        if (signal?.aborted === true || !this.#mayBeStale(error)) throw error
        if (error instanceof ApiError) break
      }
    }
    // If no controller answers, the session may still be valid: its connections go on.
    if (!(failure instanceof ApiError)) throw failure
    this.forget(session.token)
    return work(this.#optionsOf(await this.#current()))
  }

  /** Begins a new session if the controller reports the end of this session; without a controller the session stays. */
  async renewIfOver(): Promise<void> {
    try {
      await this.call('session', (api) => api.call('GET /current-identity'))
    } catch (error) {
      if (failureOf(error, 'session').code !== 'CONTROLLER_UNREACHABLE') throw error
    }
  }

  /** The session is over: the next call begins a new one. Another session that is held or being begun stays. */
  forget(token: string | undefined = this.#heldToken): void {
    if (token === undefined || this.#heldToken !== token) return
    this.#heldToken = undefined
    this.#session = undefined
  }

  /** Another certificate is shown from now on. Access tokens name the former certificate, so that the next call asks for other tokens. */
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
    if (session !== undefined) await this.#end(session)
  }

  #current(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(closed())
    if (this.#session !== undefined) return this.#session
    const session = this.#begin()
    this.#session = session
    session.catch(() => {
      if (this.#session === session) this.#session = undefined
    })
    return session
  }

  /** Begins a session within the time of a login; a session that begins too late is ended. */
  async #begin(): Promise<Session> {
    const begun = this.#logIn()
    try {
      const { session, certificate } = await within(LOGIN_MS, begun, this.#options.timer, 'login')
      if (this.#isClosed) throw closed()
      certificate?.show()
      return this.#started(session)
    } catch (error) {
      begun.then(
        ({ session, certificate }) => this.#end(session, certificate?.fetch),
        () => undefined,
      )
      throw error
    }
  }

  /** Logs in by the certificate that is shown, and by the other certificate if the first is refused. */
  async #logIn(): Promise<{ readonly session: Session; readonly certificate?: OtherCertificate }> {
    try {
      return { session: await this.#logInInTurn(this.#fetch) }
    } catch (error) {
      const other = this.#options.otherCertificate?.()
      if (!isCode(error, 'NOT_AUTHENTICATED') || other === undefined) throw error
      const { timer } = this.#options
      const certificate = { ...other, fetch: answeredWithin(ANSWER_MS, other.fetch, timer) }
      return { session: await this.#logInInTurn(certificate.fetch), certificate }
    }
  }

  #logInInTurn(fetch: Fetch): Promise<Session> {
    return this.#inTurn(this.#options.controllers, async (origin) => {
      const session = await logInAt(origin, { ...this.#options, fetch })
      await this.#options.onLogin?.(this.#apiOf(session, fetch))
      return session
    })
  }

  /** Asks one controller after the other until one answers. Rejects with the last failure. */
  async #inTurn<T>(controllers: readonly string[], work: (origin: string) => Promise<T>): Promise<T> {
    let failure: unknown
    for (const origin of controllers) {
      if (this.#isClosed) throw closed()
      try {
        return await work(origin)
      } catch (error) {
        failure = error
        if (!isCode(error, 'CONTROLLER_UNREACHABLE')) break
      }
    }
    throw failureOf(failure, 'login')
  }

  /** Replaces the former session, if any. */
  #started(session: Session): Session {
    const isFurther = this.#lastToken !== ''
    this.#lastToken = session.token
    this.#hold(session)
    this.#renewLater(session)
    if (isFurther) this.#options.onNewSession?.()
    this.#options.onAlive?.()
    return session
  }

  /** Calls use the session from now on, also those of a listener that is called next. */
  #hold(session: Session): void {
    this.#heldToken = session.token
    this.#session = Promise.resolve(session)
  }

  #renewLater(session: Session): void {
    const { timer } = this.#options
    this.#stopRenewal()
    let failures = 0
    let hasEnded = false
    const stopEnd = timer(session.lifetimeMs, () => {
      hasEnded = true
    })
    const later = (ms: number) => {
      const cancel = timer(ms, () => void attempt())
      this.#stopRenewal = () => {
        cancel()
        stopEnd()
      }
    }
    const isOld = () => this.#isClosed || this.#lastToken !== session.token
    const attempt = async () => {
      if (isOld()) return
      try {
        await this.#renew(session)
      } catch (error) {
        // The next call begins a session if this session cannot go on. The user must not be asked for codes without end.
        if (isOld() || isCode(error, 'NOT_AUTHENTICATED') || (hasEnded && isCode(error, 'SECOND_FACTOR_NEEDED'))) return
        failures += 1
        later(pauseAfter(failures, runtime.fraction()))
      }
    }
    later(renewAfter(session.lifetimeMs, runtime.fraction()))
  }

  async #renew(session: Session): Promise<void> {
    if (!session.isBearer) return this.#touch(session)
    const renewed = await this.#refresh(session)
    if (this.#isClosed || this.#lastToken !== session.token) return
    if (renewed === undefined) {
      // Calls use the former session until the next session has begun.
      if (this.#session === undefined) await this.#current()
      else await this.#begin()
      return
    }
    this.#lastToken = renewed.token
    this.#hold(renewed)
    this.#renewLater(renewed)
    this.#options.onNewToken?.(renewed.token)
    this.#options.onAlive?.()
  }

  /** Uses the session, because an unused session ends. */
  async #touch(session: Session): Promise<void> {
    const { data } = await this.call('session', (api) => api.call('GET /current-api-session'))
    // The call may have begun another session.
    if (this.#isClosed || this.#lastToken !== session.token) return
    this.#renewLater({ ...session, lifetimeMs: data.expirationSeconds * 1000 })
    this.#options.onAlive?.()
  }

  /** The session with another access token; undefined if controllers refuse to renew it. */
  async #refresh({ origin, refreshToken }: Session): Promise<Session | undefined> {
    if (refreshToken === undefined) return undefined
    try {
      return await this.#inTurn(this.#inOrder(origin), (at) => refreshAt(at, refreshToken, this.#options))
    } catch (error) {
      if (isCode(error, 'NOT_AUTHENTICATED')) return undefined
      throw error
    }
  }

  /** All controllers, the controller at `origin` first. */
  #inOrder(origin: string): readonly string[] {
    return [origin, ...this.#options.controllers.filter((other) => other !== origin)]
  }

  /** Another controller answered in the session that is held: it is asked first from now on. A login that began meanwhile counts more. */
  #goOnAt(session: Session): void {
    if (this.#heldToken === session.token) this.#hold(session)
  }

  async #end(session: Session, fetch = this.#fetch): Promise<void> {
    if (this.#options.logIn !== undefined) return
    // The session also ends by itself: no caller waits for a controller that is gone.
    await this.#apiOf(session, fetch)
      .call('DELETE /current-api-session', { signal: timeoutSignal(2000) })
      .catch(() => undefined)
  }

  /** Whether a call may succeed in a new session, or at another controller. */
  #mayBeStale(error: unknown): boolean {
    if (error instanceof ConnectionFailure) return false
    return error instanceof ApiError ? error.status === 401 : this.#options.controllers.length > 1
  }

  #apiOf(session: Session, fetch = this.#fetch): ApiClient<ClientApi> {
    return createClient(this.#optionsOf(session, fetch))
  }

  #optionsOf({ origin, token }: Session, fetch = this.#fetch): ClientOptions {
    return { baseUrl: origin, fetch, token }
  }
}

function isCode(error: unknown, code: FailureCode): boolean {
  return failureOf(error, 'session').code === code
}

function closed(): ConnectionFailure {
  return new ConnectionFailure('CLOSED', 'the identity is closed')
}
