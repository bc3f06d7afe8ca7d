import {
  CLIENT_IDS,
  type ClientRequest,
  requireChallenge,
  scopesOf,
  withParameters,
} from '../../facts/oidc/auth-request.rules.ts'
import { invalidRequest, OAuthError } from '../../facts/oidc/oauth-error.rules.ts'
import type { Answer, OperationShape } from '../../http/operations/operation.ts'
import { isRedirectUri } from '../../oidc/auth-requests.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import { found, openIdOperation } from './openid-row.rows.ts'

const SHAPE = {
  summary: 'Begins a login for a client',
  description:
    'Authorization code flow with a proof key (S256). Leads to the login page, or to where an SDK sends credentials.',
  access: 'public',
  credentials: ['none', 'certificate'],
  form: true,
} as const satisfies Omit<OperationShape, 'route'>

const ASK_ADMINISTRATOR = 'If you have any questions, you may contact the administrator of the application.'
/** Characters of a parameter that is kept until the login ends. */
const MAX_KEPT = 4096
const MAX_CONFIG_TYPES = 100
/** The most bytes that are kept of one request, because every client may begin many. */
const MAX_REQUEST_BYTES = 16_384

type Form = ReadonlyMap<string, string>

/** Where every login begins (RFC 6749 section 4.1.1). */
export function authorizeOperations(provider: OpenIdProvider) {
  return (['GET /authorize', 'POST /authorize'] as const).map((route) =>
    openIdOperation(provider, { route, ...SHAPE }, async ({ form, url, call }): Promise<Answer> => {
      const clientId = await requireClient(provider, form)
      const redirectUri = form.get('redirect_uri') ?? ''
      const scopes = scopesOf(requireScope(form))
      requireCodeFlow(form)
      if (promptsForNothing(form)) {
        return found(withParameters(redirectUri, { error: 'login_required', state: form.get('state') ?? null }))
      }
      await refuseBadHints(provider, form)
      const codeChallenge = requireChallenge(form.get('code_challenge'), form.get('code_challenge_method'))
      const configTypes = url.searchParams.getAll('configTypes').filter((name) => name !== '')
      if (configTypes.length > MAX_CONFIG_TYPES) throw invalidRequest('too many configTypes')
      const { id } = await provider.requests.begin(
        small({
          clientId,
          redirectUri,
          scopes,
          state: kept(form, 'state'),
          nonce: kept(form, 'nonce'),
          codeChallenge,
          configTypes: configTypes.map((name) => name.slice(0, 256)),
          remoteAddress: call.remoteAddress ?? '',
        }),
      )
      const hasCertificate = (call.clientCertificates ?? []).length > 0
      return found(`/oidc/login/${loginPage(url, hasCertificate)}?authRequestID=${id}`)
    }),
  )
}

async function requireClient(provider: OpenIdProvider, form: Form): Promise<string> {
  const clientId = form.get('client_id')
  const redirectUri = form.get('redirect_uri')
  if (!clientId) throw invalidRequest('auth request is missing client_id')
  if (!redirectUri) throw invalidRequest('auth request is missing redirect_uri')
  if (!CLIENT_IDS.includes(clientId)) throw new OAuthError('invalid_client', 'client not found')
  if (await isRedirectUri(provider.context, redirectUri)) return clientId
  const problem = 'The requested redirect_uri is missing in the client configuration.'
  throw invalidRequest(`${problem} ${ASK_ADMINISTRATOR}`)
}

function requireScope(form: Form): string {
  const scope = form.get('scope')
  if (scope) return scope
  throw invalidRequest(
    `The scope of your request is missing. Please ensure some scopes are requested. ${ASK_ADMINISTRATOR}`,
  )
}

function requireCodeFlow(form: Form): void {
  const responseType = form.get('response_type')
  if (!responseType) throw invalidRequest(`The response type is missing in your request. ${ASK_ADMINISTRATOR}`)
  if (responseType === 'code') return
  const problem = 'The requested response type is missing in the client configuration.'
  throw new OAuthError('unauthorized_client', `${problem} ${ASK_ADMINISTRATOR}`)
}

/** No cookie logs anybody in, so a client that allows no page cannot be served. */
function promptsForNothing(form: Form): boolean {
  const prompts = (form.get('prompt') ?? '').split(' ').filter((word) => word !== '')
  if (!prompts.includes('none')) return false
  if (prompts.length > 1) throw invalidRequest('The prompt parameter `none` must only be used as a single value')
  return true
}

async function refuseBadHints(provider: OpenIdProvider, form: Form): Promise<void> {
  const maxAge = form.get('max_age')
  if (maxAge && !/^[0-9]{1,10}$/.test(maxAge)) throw invalidRequest('error decoding form')
  if (form.get('request')) throw invalidRequest('request objects are not supported')
  const hint = form.get('id_token_hint')
  if (!hint || (await provider.sessionEnd.isOurs(hint))) return
  throw new OAuthError('login_required', `The id_token_hint is invalid. ${ASK_ADMINISTRATOR}`)
}

function kept(form: Form, name: 'state' | 'nonce'): string | null {
  const value = form.get(name) ?? ''
  if (value.length > MAX_KEPT) throw invalidRequest(`${name} is longer than ${MAX_KEPT} characters`)
  return value === '' ? null : value
}

function small(request: ClientRequest): ClientRequest {
  const bytes = new TextEncoder().encode(JSON.stringify(request)).byteLength
  if (bytes > MAX_REQUEST_BYTES) throw invalidRequest(`the request is longer than ${MAX_REQUEST_BYTES} bytes`)
  return request
}

/** Chooses the login page that the query asks for; otherwise the certificate's, where the connection has one. */
function loginPage(url: URL, hasCertificate: boolean): string {
  const method = url.searchParams.getAll('method').at(-1)
  if (method === 'password') return 'username'
  if (method === 'ext-jwt' || method === 'cert') return method
  return hasCertificate ? 'cert' : 'username'
}

/** The cookie is bound to this host and to TLS by its name. It proves only that the same browser comes back from the signer. */
const NAME = '__Host-portcullis-login'
const SECRET = /^[0-9a-f-]{36}$/

/** Reads the secret that a browser keeps during a login elsewhere; `undefined` where it sends none. */
export function browserSecret(headers: Headers): string | undefined {
  const cookies = (headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim().split('='))
  const [, secret = ''] = cookies.find(([name]) => name === NAME) ?? []
  return SECRET.test(secret) ? secret : undefined
}

/** Lets a browser keep a secret for ten minutes, out of reach of scripts. */
export function browserCookie(secret: string): Readonly<Record<string, string>> {
  return { 'set-cookie': `${NAME}=${secret}; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax` }
}
