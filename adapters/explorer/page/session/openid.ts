import { controllerUrl } from '../api/controller-url.ts'
import { arrive } from '../navigation/place.ts'
import { openSession, signedApis } from './session.ts'

/** The key under which the browser keeps a login that is at the provider: proof of the request, and no credential of a session. */
const WAITING = 'portcullis-explorer-login'
const CLIENT_ID = 'openziti'

/** How long before its end an access token is exchanged for a new one, in milliseconds. */
const RENEW_BEFORE_MS = 60_000

interface Tokens {
  readonly access_token: string
  readonly refresh_token?: string
  readonly expires_in: number
}

/** The page itself: where the provider sends the browser back to. */
function redirectUri(): string {
  return `${location.origin}${location.pathname}`
}

/** Leaves the page for the login of the controller's OpenID provider. */
export async function leaveForProvider(): Promise<void> {
  const [state, verifier] = [randomText(), randomText()]
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  sessionStorage.setItem(WAITING, JSON.stringify({ state, verifier, view: location.hash }))
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    response_type: 'code',
    scope: 'openid offline_access',
    redirect_uri: redirectUri(),
    state,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  })
  location.assign(`${controllerUrl()}/oidc/authorize?${query}`)
}

/** Whether the browser just came back from the provider. */
export function isBackFromProvider(): boolean {
  const query = new URLSearchParams(location.search)
  return query.has('state') && (query.has('code') || query.has('error'))
}

/** Opens the session for which the browser was at the provider. Rejects with `Error` where it did not log in. */
export async function returnFromProvider(): Promise<void> {
  const answer = new URLSearchParams(location.search)
  const waiting: unknown = JSON.parse(sessionStorage.getItem(WAITING) ?? 'null')
  sessionStorage.removeItem(WAITING)
  const { state, verifier, view } = readWaiting(waiting)
  // The code must not stay in the address, the history, or what is sent as referrer.
  arrive(view)
  if (state === '' || answer.get('state') !== state) throw new Error('This login was not begun here. Try it again.')
  const code = answer.get('code')
  if (code === null) throw new Error(answer.get('error_description') ?? 'The provider did not log you in.')
  const redirect_uri = redirectUri()
  await begin(await askForTokens({ grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier }))
}

async function begin(first: Tokens): Promise<void> {
  let tokens = first
  let goodUntil = Date.now() + first.expires_in * 1000
  let renewal: Promise<void> | undefined
  const renew = async (refresh_token: string) => {
    tokens = await askForTokens({ grant_type: 'refresh_token', refresh_token })
    goodUntil = Date.now() + tokens.expires_in * 1000
  }
  const apis = signedApis(async (headers) => {
    const { refresh_token } = tokens
    if (refresh_token && Date.now() > goodUntil - RENEW_BEFORE_MS) {
      // Requests at the same time share one exchange: a refresh token is good once.
      renewal ??= renew(refresh_token).finally(() => {
        renewal = undefined
      })
      await renewal
    }
    headers.set('authorization', `Bearer ${tokens.access_token}`)
  })
  const end = async () => {
    await apis.management.call('DELETE /current-api-session')
  }
  await openSession(apis, end)
}

async function askForTokens(form: Readonly<Record<string, string>>): Promise<Tokens> {
  const body = new URLSearchParams({ client_id: CLIENT_ID, ...form })
  const response = await fetch(`${controllerUrl()}/oidc/oauth/token`, { method: 'POST', body, credentials: 'omit' })
  if (!response.ok) throw new Error('The provider gave no session. Try it again.')
  // The provider is the controller that served the page.
  return (await response.json()) as Tokens
}

function readWaiting(value: unknown): { state: string; verifier: string; view: string } {
  const member = (name: string) => {
    const found = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
    return typeof found === 'string' ? found : ''
  }
  return { state: member('state'), verifier: member('verifier'), view: member('view') }
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)))
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
