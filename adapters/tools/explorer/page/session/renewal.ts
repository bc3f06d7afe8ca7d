import { controllerUrl } from '../api/apis.ts'
import { byOneTab, type Credential, heldCredential, keepCredential } from './credential.ts'

/** The page as a client of the provider. */
export const CLIENT_ID = 'openziti'

/** How long before its end an access token is exchanged for a new one, in milliseconds. */
const RENEW_BEFORE_MS = 60_000

let renewal: Promise<void> | undefined

/** Milliseconds that the provider may be silent. */
const ANSWER_MS = 10_000
/** Milliseconds that a request waits for the exchange of a token that is still good. */
const PATIENCE_MS = 1000

/**
 * A credential that is good for a while: tokens that are about to end are exchanged, by one tab and once. If that fails or takes long,
 * requests go on with the old token until it ends, and each request tries again.
 */
export async function renewed(credential: Credential): Promise<Credential> {
  if (!isAboutToEnd(credential)) return credential
  renewal ??= byOneTab(exchange).finally(() => {
    renewal = undefined
  })
  try {
    await soonEnough(renewal, credential)
  } catch (error) {
    if (!isGood(credential)) throw error
  }
  return heldCredential() ?? credential
}

/** Waits for an exchange; not for long while the former token is good, because the provider may be away or another tab asleep. */
async function soonEnough(exchanged: Promise<void>, credential: Credential): Promise<void> {
  if (!isGood(credential)) return exchanged
  // Its failure may have no other handler.
  exchanged.catch(() => undefined)
  await Promise.race([exchanged, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))])
}

function isGood(credential: Credential): boolean {
  return credential.kind === 'tokens' && Date.now() < credential.goodUntil
}

async function exchange(): Promise<void> {
  const credential = heldCredential()
  // Another tab may have done it meanwhile.
  if (credential === undefined || !isAboutToEnd(credential) || credential.kind !== 'tokens') return
  const { refreshToken } = credential
  if (refreshToken === undefined) return
  keepCredential(await askForTokens({ grant_type: 'refresh_token', refresh_token: refreshToken }))
}

function isAboutToEnd(credential: Credential): boolean {
  if (credential.kind !== 'tokens' || credential.refreshToken === undefined) return false
  return Date.now() > credential.goodUntil - RENEW_BEFORE_MS
}

/** Asks the provider for tokens. Rejects with `Error` when it refuses. */
export async function askForTokens(form: Readonly<Record<string, string>>): Promise<Credential> {
  const body = new URLSearchParams({ client_id: CLIENT_ID, ...form })
  const signal = AbortSignal.timeout(ANSWER_MS)
  const response = await fetch(`${controllerUrl()}/oidc/oauth/token`, {
    ...{ method: 'POST', body, credentials: 'omit', signal },
  })
  if (!response.ok) throw new Error('The provider gave no session. Try it again.')
  const answer: unknown = await response.json()
  const member = (name: string): unknown =>
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined
  const refreshToken = member('refresh_token')
  return {
    kind: 'tokens',
    accessToken: String(member('access_token')),
    refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
    goodUntil: Date.now() + Number(member('expires_in')) * 1000,
  }
}
