import type { Operation } from '../../http/operations/operation.ts'
import type { OpenIdApi } from '../../http/pipeline/handler.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import { authorizeOperations } from './authorize.rows.ts'
import { discoveryOperations, userInfoOperations } from './discovery.rows.ts'
import { loginOperations } from './login.rows.ts'
import { toOpenIdProblem } from './openid-problem.rows.ts'
import { styleOperation } from './page.rows.ts'
import { sessionEndOperations } from './session-end.rows.ts'
import { callbackOperations, signerLoginOperations } from './signer-login.rows.ts'
import { tokenOperation } from './token.rows.ts'
import { totpOperations } from './totp.rows.ts'

/** The rows of the OpenID provider, below `/oidc`. Only rows are served. */
function openIdOperations(provider: OpenIdProvider): readonly Operation[] {
  return [
    ...discoveryOperations(provider),
    ...authorizeOperations(provider),
    ...loginOperations(provider),
    ...signerLoginOperations(provider),
    ...totpOperations(provider),
    ...callbackOperations(provider),
    tokenOperation(provider),
    ...userInfoOperations(provider),
    ...sessionEndOperations(provider),
    styleOperation(provider),
  ]
}

/** Makes the part of the provider that the pipeline needs. */
export function openIdApi(provider: OpenIdProvider): OpenIdApi {
  return { operations: openIdOperations(provider), bearer: provider.bearerSessions, toProblem: toOpenIdProblem }
}
