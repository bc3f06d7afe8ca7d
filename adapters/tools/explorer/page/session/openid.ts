import { controllerUrl } from '../api/apis.ts'
import { memberOf } from '../api/read-json.ts'
import { arrive } from '../navigation/place.ts'
import { askForTokens, CLIENT_ID } from './renewal.ts'
import { openSession } from './session.ts'

/** The key under which the browser keeps a login that is at the provider: proof of the request, and no credential of a session. */
const WAITING = 'portcullis-explorer-login'

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
  // The code must not stay in the address, the history or the referrer.
  arrive(view)
  if (state === '' || answer.get('state') !== state) throw new Error('This login was not begun here. Try it again.')
  const code = answer.get('code')
  if (code === null) throw new Error(answer.get('error_description') ?? 'The provider did not log you in.')
  const redirect_uri = redirectUri()
  await openSession(
    await askForTokens({ grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier }),
  )
}

function readWaiting(value: unknown): { state: string; verifier: string; view: string } {
  const member = (name: string) => {
    const found = memberOf(value, name)
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
