import type { MissingFactors } from '../../../engine/context/call.ts'

/** What is still to be proved, as SDKs read it while they log in; null when nothing is. */
export function authQueriesOf({ totp, signer }: MissingFactors): { readonly authQueries: readonly object[] | null } {
  const queries = [
    ...(totp === undefined ? [] : [totpQuery(totp.isEnrolled)]),
    ...(signer === undefined ? [] : [signerQuery(signer)]),
  ]
  return { authQueries: queries.length === 0 ? null : queries }
}

function totpQuery(isEnrolled: boolean) {
  return {
    format: 'numeric',
    httpMethod: 'POST',
    httpUrl: './oidc/login/totp',
    ...(isEnrolled && { isTotpEnrolled: true }),
    maxLength: 8,
    minLength: 6,
    provider: 'ziti',
    scopes: null,
    typeId: 'TOTP',
  }
}

function signerQuery({ id, clientId, externalAuthUrl, scopes }: NonNullable<MissingFactors['signer']>) {
  return {
    ...(clientId && { clientId }),
    ...(externalAuthUrl && { httpUrl: externalAuthUrl }),
    id,
    provider: 'url',
    scopes: [...scopes].sort(),
    typeId: 'EXT-JWT',
  }
}
