import { unlessAborted } from '../concurrency/unless-aborted.ts'

/** Milliseconds that a login may take. Requests that wait for it fail then, and the next one logs in anew. */
const LOGIN_MS = 60_000

/** Logs in; gives up when its signal is aborted. */
export type Login = (signal: AbortSignal) => Promise<string>

/** A login that is under way, or is done. */
interface PendingLogin {
  readonly token: Promise<string>
  readonly abort: AbortController
  /** The requests that wait for it. */
  waiting: number
}

/** The token of the API session for requests: given, or from a login that is repeated when the session has ended. */
export class SessionToken {
  readonly #given: string | undefined
  readonly #logIn: Login | undefined
  #login: PendingLogin | undefined

  constructor({ token, login }: { readonly token?: string; readonly login?: Login }) {
    this.#given = token
    this.#logIn = login
  }

  /**
   * Answers what `send` answers, in a session; once more in a new one where the session had ended. Rejects with the reason of
   * `signal` when it is aborted during a login, which no later request waits for then.
   */
  async with(
    send: (token: string | undefined) => Promise<Response>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const used = await this.#current(signal)
    const response = await send(used.token)
    if (this.#logIn === undefined || !saysThatSessionEnded(response)) return response
    // Another request may have logged in again while this one was on its way.
    if (this.#login === used.login) this.#login = undefined
    // The rest of the refusal may never come.
    response.body?.cancel().catch(() => undefined)
    return send((await this.#current(signal, true)).token)
  }

  async #current(signal: AbortSignal | undefined, isRenewal = false) {
    const logIn = this.#logIn
    const isGiven = this.#given !== undefined && this.#login === undefined && !isRenewal
    if (logIn === undefined || isGiven) return { token: this.#given, login: undefined }
    this.#login ??= this.#begin(logIn)
    const login = this.#login
    login.waiting += 1
    try {
      const token = signal === undefined ? await login.token : await unlessAborted(signal, () => login.token)
      return { token, login }
    } catch (error) {
      // It failed, or it was given up: the next request begins another one.
      if (this.#login === login) this.#login = undefined
      if (login.waiting === 1) login.abort.abort(error)
      throw error
    } finally {
      login.waiting -= 1
    }
  }

  #begin(logIn: Login): PendingLogin {
    const abort = new AbortController()
    const failure = new DOMException(`no login within ${LOGIN_MS / 1000} s`, 'TimeoutError')
    const limit = setTimeout(() => abort.abort(failure), LOGIN_MS)
    const token = unlessAborted(abort.signal, () => logIn(abort.signal)).finally(() => clearTimeout(limit))
    // Requests that gave up do not look at the promise.
    token.catch(() => undefined)
    return { token, abort, waiting: 0 }
  }
}

/** A refusal of the operation has status 401 as well; only that of the session, or of the access token, names its realm. */
function saysThatSessionEnded({ status, headers }: Response): boolean {
  const challenge = headers.get('www-authenticate') ?? ''
  return status === 401 && REALMS.some((realm) => challenge.includes(realm))
}

const REALMS = ['realm="zt-session"', 'realm="openziti-oidc"']
