import { CLIENT_IDS } from '../../domain/oidc/clients.ts'
import { invalidRequest, OAuthError } from '../../domain/oidc/oauth-error.ts'

/**
 * Which client calls: by HTTP Basic, which comes first, or by `client_id`. The clients are public: they have no secret, and
 * whatever they send as one is not looked at. Errors: `invalid_request`, `invalid_client`.
 */
export function requireClientId(headers: Headers, form: ReadonlyMap<string, string>): string {
  const clientId = basicName(headers.get('authorization')) ?? form.get('client_id')
  if (!clientId) throw invalidRequest('client_id or client_assertion must be provided')
  if (!CLIENT_IDS.includes(clientId)) throw new OAuthError('invalid_client', 'client not found')
  return clientId
}

function basicName(authorization: string | null): string | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=_-]+)$/i.exec(authorization?.trim() ?? '') ?? []
  if (encoded === undefined) return undefined
  try {
    const [name = ''] = atob(encoded.replaceAll('-', '+').replaceAll('_', '/')).split(':')
    return decodeURIComponent(name) || undefined
  } catch {
    return undefined
  }
}
