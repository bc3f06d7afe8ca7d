import { allScopes } from './auth-request.rules.ts'

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

const CLAIMS = [
  'sub aud exp iat iss auth_time nonce amr c_hash at_hash client_id azp name scopes',
  'z_aid z_asid z_authid z_ia z_eid z_ct z_cfs z_acf z_sdk z_env z_ra z_ice z_cer z_ckrr z_iccc z_cae z_t',
].flatMap((words) => words.split(' '))

/** Makes the discovery document of the provider (OpenID Connect Discovery 1.0), with the endpoints of a login by SDK. */
export function discoveryDocument(issuer: string, algorithm: string) {
  const at = (path: string) => `${issuer}${path}`
  const clientMethods = ['none', 'client_secret_basic', 'client_secret_post']
  return {
    issuer,
    authorization_endpoint: at('/authorize'),
    token_endpoint: at('/oauth/token'),
    introspection_endpoint: at('/oauth/introspect'),
    userinfo_endpoint: at('/userinfo'),
    revocation_endpoint: at('/revoke'),
    end_session_endpoint: at('/end_session'),
    device_authorization_endpoint: at('/device_authorization'),
    jwks_uri: at('/keys'),
    scopes_supported: allScopes(),
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token', TOKEN_EXCHANGE],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
    token_endpoint_auth_methods_supported: clientMethods,
    revocation_endpoint_auth_methods_supported: clientMethods,
    introspection_endpoint_auth_methods_supported: clientMethods,
    claims_supported: CLAIMS,
    code_challenge_methods_supported: ['S256'],
    ui_locales_supported: ['en'],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    openziti_endpoints: {
      password: at('/login/password'),
      cert: at('/login/cert'),
      ext_jwt: at('/login/ext-jwt'),
      totp: at('/login/totp'),
      totp_enroll: at('/login/totp/enroll'),
      totp_enroll_verify: at('/login/totp/enroll/verify'),
      auth_queries: at('/login/auth-queries'),
    },
  }
}

/** The base path of all endpoints of the provider. */
export const OIDC_BASE = '/oidc'

/** The issuer at a host (`host:port`, without the port 443): `https://ctrl.example:1280/oidc`. */
function issuerAt(host: string): string {
  return `https://${host}${OIDC_BASE}`
}

/**
 * The issuer that a request's host chooses among those of the configuration, whatever the case and with or without the standard port;
 * `undefined` for any other host.
 */
export function chooseIssuer(host: string, issuers: readonly string[]): string | undefined {
  const wanted = normalHost(host)
  return wanted === undefined ? undefined : issuers.find((issuer) => issuer === issuerAt(wanted))
}

/** The problem of a text as an issuer; `undefined` for a valid issuer. */
export function issuerProblem(issuer: string): string | undefined {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (url !== undefined && issuer === issuerAt(url.host)) return undefined
  return `is no issuer such as ${issuerAt('ctrl.example:1280')}, in lower case and without port 443`
}

/** The issuers of hosts, given as names or addresses without a port; each once. IPv6 addresses may come without brackets. */
export function issuersOf(hosts: readonly string[], port: number): readonly string[] {
  const all = hosts.flatMap((host) => normalHost(`${host.includes(':') ? bracketed(host) : host}:${port}`) ?? [])
  return [...new Set(all)].map(issuerAt)
}

function normalHost(host: string): string | undefined {
  const url = `https://${host}`
  return /[/?#@\\\s]/.test(host) || !URL.canParse(url) ? undefined : new URL(url).host
}

function bracketed(host: string): string {
  return host.startsWith('[') ? host : `[${host}]`
}
