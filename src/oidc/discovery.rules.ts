import { allScopes } from './clients.ts'

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

const CLAIMS = [
  'sub aud exp iat iss auth_time nonce amr c_hash at_hash client_id azp name scopes',
  'z_aid z_asid z_authid z_ia z_eid z_ct z_cfs z_acf z_sdk z_env z_ra z_ice z_cer z_ckrr z_iccc z_cae z_t',
].flatMap((words) => words.split(' '))

/** What a client needs to know of the provider (OpenID Connect Discovery 1.0), with the endpoints of a login by SDK. */
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
