/** The metadata of an external OpenID provider that a login needs. */
export interface ExternalProvider {
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
}

/** The parameters of a user's redirect to an external provider. */
export interface ExternalRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string
  readonly nonce: string
  readonly codeChallenge: string
}

/** The URL of a provider's description (OpenID Connect Discovery 1.0 section 4), by its base URL. */
export function discoveryUrl(baseUrl: string): string {
  return `${baseUrl.replace(/\/+$/, '')}/.well-known/openid-configuration`
}

/** Reads the description of a provider; `undefined` for an invalid description, and for endpoints outside of the web. */
export function readProvider(text: string): ExternalProvider | undefined {
  const { issuer, authorization_endpoint, token_endpoint } = membersOf(text)
  if (typeof issuer !== 'string') return undefined
  if (!isWebUrl(authorization_endpoint) || !isWebUrl(token_endpoint)) return undefined
  return { issuer, authorizationEndpoint: authorization_endpoint, tokenEndpoint: token_endpoint }
}

/** The URL of a user's login at a provider, for a code that is bound to a proof key (RFC 7636). */
export function authorizationUrl({ authorizationEndpoint }: ExternalProvider, request: ExternalRequest): string {
  const { clientId, redirectUri, scopes, state, nonce, codeChallenge } = request
  const url = new URL(authorizationEndpoint)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: [...new Set(['openid', ...scopes])].join(' '),
    state,
    nonce,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** The token in a provider's answer that the signer's configuration selects; `undefined` if it is missing. */
export function targetTokenIn(text: string, target: 'ACCESS' | 'ID'): string | undefined {
  const { access_token, id_token } = membersOf(text)
  const token = target === 'ID' ? id_token : access_token
  return typeof token === 'string' && token !== '' ? token : undefined
}

function isWebUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text)
    return typeof read === 'object' && read !== null ? { ...read } : {}
  } catch {
    return {}
  }
}
