import { createHash } from 'node:crypto'
import { toBase64Url } from '../../../src/base/bytes.ts'
import type { Fetch } from '../../../src/client/index.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { ConnectionFailure } from './connection-failure.ts'

/** Tokens that stand for a session of their own, until they end. */
export interface BearerTokens {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  /** Seconds from when they were given. */
  readonly expiresIn: number
}

/** A login by OpenID Connect at a controller. */
export interface BearerLogin {
  /** The controller, `https://HOST:PORT`. */
  readonly origin: string
  readonly fetch: Fetch
  /** Facts of the program and its machine, sent with the login. */
  readonly told: object
  /** A code of the second factor, asked for where the controller wants one. Rejects with a {@link ConnectionFailure}. */
  secondFactor(): Promise<string>
}

const CLIENT = 'openziti'
/** No server listens there: the code is read from the redirect of the controller. */
const REDIRECT = 'http://localhost:20314/auth/callback'
const FORM = 'application/x-www-form-urlencoded'

/** Logs in by the certificate that `fetch` shows. Rejects with a {@link ConnectionFailure}. */
export async function logInForTokens(login: BearerLogin): Promise<BearerTokens> {
  const verifier = toBase64Url(runtime.bytes(32))
  const query = new URLSearchParams({
    client_id: CLIENT,
    response_type: 'code',
    scope: 'openid offline_access',
    redirect_uri: REDIRECT,
    state: toBase64Url(runtime.bytes(16)),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    method: 'cert',
  })
  const begun = await send(login, 'GET', `/oidc/authorize?${query}`)
  const id = new URL(locationOf(begun), login.origin).searchParams.get('authRequestID') ?? ''
  const proved = await send(login, 'POST', `/oidc/login/cert?id=${encodeURIComponent(id)}`, JSON.stringify(login.told))
  const complete = proved.status === 200 ? await withSecondFactor(login, id) : proved
  const { pathname, search } = new URL(locationOf(complete), login.origin)
  const led = new URL(locationOf(await send(login, 'GET', `${pathname}${search}`)))
  const code = led.searchParams.get('code')
  if (code === null) throw refused(`the login ended without a code: ${led.searchParams.get('error_description') ?? ''}`)
  return tokensBy(login, { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT })
}

/** Tokens of the same session that last longer. Rejects with a {@link ConnectionFailure} when the session is over. */
export function refreshTokens(login: BearerLogin, refreshToken: string): Promise<BearerTokens> {
  return tokensBy(login, { grant_type: 'refresh_token', refresh_token: refreshToken })
}

async function withSecondFactor(login: BearerLogin, id: string): Promise<Response> {
  const body = JSON.stringify({ id, code: await login.secondFactor() })
  const answer = await send(login, 'POST', '/oidc/login/totp', body)
  if (answer.status >= 400)
    throw new ConnectionFailure('SECOND_FACTOR_NEEDED', 'the code of the second factor is wrong')
  return answer
}

async function tokensBy(login: BearerLogin, grant: Record<string, string>): Promise<BearerTokens> {
  const body = new URLSearchParams({ client_id: CLIENT, ...grant }).toString()
  const answer = await send(login, 'POST', '/oidc/oauth/token', body, FORM)
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = await jsonOf(answer)
  if (answer.status !== 200 || typeof accessToken !== 'string') throw refused('the controller gives no tokens')
  return {
    accessToken,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
    expiresIn: typeof expiresIn === 'number' ? expiresIn : 60,
  }
}

async function send(
  { origin, fetch }: BearerLogin,
  method: string,
  path: string,
  body?: string,
  contentType = 'application/json',
): Promise<Response> {
  const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': contentType }) }
  const answer = await fetch(
    new Request(`${origin}${path}`, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) }),
  )
  // Behind a proxy, or in a controller that has no database for the moment, the next one may answer.
  if (answer.status >= 500 || answer.status === 429) {
    throw new ConnectionFailure('CONTROLLER_UNREACHABLE', `the controller answers ${answer.status}`)
  }
  if (answer.status === 401) throw refused('the controller does not let this identity in')
  return answer
}

function locationOf(answer: Response): string {
  const location = answer.headers.get('location')
  if (location === null) throw refused(`the login answers ${answer.status} where it should lead on`)
  return location
}

async function jsonOf(answer: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = JSON.parse(await answer.text())
    // An object from JSON has members of any kind.
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}

function refused(message: string): ConnectionFailure {
  return new ConnectionFailure('NOT_AUTHENTICATED', message)
}
