import { hostname, release } from 'node:os'
import { type ApiClient, type ClientApi, createClient, type Fetch } from '../../../src/client/index.ts'
import { unlessAborted } from '../../../src/concurrency/unless-aborted.ts'
import { VERSION } from '../../../src/version.ts'
import type { Timer } from '../channel/conversation.ts'
import { type BearerLogin, type BearerTokens, logInForTokens, refreshTokens } from './bearer-login.ts'
import { ConnectionFailure } from './connection-failure.ts'

/** How a session is begun. */
export interface LoginOptions {
  /** Shows the identity's certificate. It rejects where a controller is silent. */
  readonly fetch: Fetch
  /** `bearer` for tokens of OpenID Connect, `api-session` for a session that the controller keeps; `auto` asks the controller. */
  readonly sessions: 'auto' | 'api-session' | 'bearer'
  secondFactor?(): Promise<string>
  /** Begins a session in another way than by certificate; answers its token, or its tokens. The caller ends that session. */
  logIn?(): Promise<string | BearerTokens>
}

/** A session that was begun or renewed. */
export interface Session {
  readonly token: string
  /** The controller that gave it. */
  readonly origin: string
  readonly isBearer: boolean
  readonly refreshToken?: string | undefined
  /** Milliseconds from when it was given. */
  readonly lifetimeMs: number
}

/** Begins a session at one controller. Rejects with the error of the client API, or with a {@link ConnectionFailure}. */
export async function logInAt(origin: string, options: LoginOptions): Promise<Session> {
  const api = createClient({ baseUrl: origin, fetch: options.fetch })
  if (options.logIn === undefined) {
    return (await wantsBearer(api, options)) ? logInByTokens(origin, options) : logInByApi(api, origin, options)
  }
  const token = await options.logIn()
  if (typeof token !== 'string') return sessionOf(origin, token)
  const { data } = await api.withToken(token).call('GET /current-api-session')
  return { token, origin, isBearer: false, lifetimeMs: data.expirationSeconds * 1000 }
}

/**
 * The same session with an access token that lasts longer, from one controller. Rejects with a {@link ConnectionFailure}:
 * `NOT_AUTHENTICATED` where the controller refuses it.
 */
export async function refreshAt(origin: string, refreshToken: string, options: LoginOptions): Promise<Session> {
  return sessionOf(origin, await refreshTokens(bearerLogin(origin, options), refreshToken))
}

async function wantsBearer(api: ApiClient<ClientApi>, { sessions }: LoginOptions): Promise<boolean> {
  if (sessions !== 'auto') return sessions === 'bearer'
  const { data } = await api.call('GET /version')
  // Controllers that are several keep no sessions that only one of them knows.
  return data.capabilities?.includes('HA_CONTROLLER') === true && data.capabilities.includes('OIDC_AUTH')
}

async function logInByApi(api: ApiClient<ClientApi>, origin: string, options: LoginOptions): Promise<Session> {
  const answer = await api.call('POST /authenticate', { query: { method: 'cert' }, body: TOLD })
  const { token, expirationSeconds, authQueries } = answer.data
  if (authQueries.length > 0) {
    await api.withToken(token).call('POST /authenticate/mfa', { body: { code: await codeBy(options) } })
  }
  return { token, origin, isBearer: false, lifetimeMs: expirationSeconds * 1000 }
}

async function logInByTokens(origin: string, options: LoginOptions): Promise<Session> {
  return sessionOf(origin, await logInForTokens(bearerLogin(origin, options)))
}

function bearerLogin(origin: string, options: LoginOptions): BearerLogin {
  return { origin, fetch: options.fetch, told: TOLD, secondFactor: () => codeBy(options) }
}

function sessionOf(origin: string, { accessToken, refreshToken, expiresIn }: BearerTokens): Session {
  return { token: accessToken, origin, isBearer: true, refreshToken, lifetimeMs: expiresIn * 1000 }
}

/** A code of the second factor. Rejects with `SECOND_FACTOR_NEEDED` if the program gives no code. */
async function codeBy({ secondFactor }: LoginOptions): Promise<string> {
  if (secondFactor === undefined) {
    throw new ConnectionFailure(
      'SECOND_FACTOR_NEEDED',
      'the login needs a second factor: give openIdentity a secondFactor',
    )
  }
  try {
    return await secondFactor()
  } catch (cause) {
    const told = cause instanceof Error ? cause.message : String(cause)
    throw new ConnectionFailure('SECOND_FACTOR_NEEDED', `the second factor was not shown: ${told}`, { cause })
  }
}

/** Facts of the program and its machine, for controllers and posture checks. */
const TOLD = {
  sdkInfo: { type: 'portcullis-sdk', version: VERSION },
  envInfo: { os: process.platform, arch: process.arch, osRelease: release(), hostname: hostname() },
}

/** Settles as `work` does; rejects with `TIMED_OUT` when that takes longer than `ms`. The work itself goes on. */
export function within<T>(ms: number, work: Promise<T>, timer: Timer, task: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timer(ms, () =>
      reject(new ConnectionFailure('TIMED_OUT', `${task}: it takes longer than ${ms / 1000} s`)),
    )
    work.then(resolve, reject).finally(cancel)
  })
}

/** The same `fetch`; its requests are given up, and reject with an `Error`, when no answer has come after `ms`. */
export function answeredWithin(ms: number, fetch: Fetch, timer: Timer): Fetch {
  return async (request) => {
    const silence = new AbortController()
    const cancel = timer(ms, () => silence.abort(new Error(`no answer within ${ms / 1000} s`)))
    const signal = AbortSignal.any([request.signal, silence.signal])
    try {
      // A controller in the same process takes no notice of signals.
      return await unlessAborted(silence.signal, () => fetch(new Request(request, { signal })))
    } finally {
      cancel()
    }
  }
}
