import type { OpenIdProvider } from '../../engine/oidc/openid-provider.ts'
import type { Operation } from '../operations/operation.ts'
import type { OpenIdApi } from '../pipeline/handler.ts'
import { authorizeOperations } from './authorize.ts'
import { callbackOperations } from './callback.ts'
import { discoveryOperations } from './discovery.ts'
import { loginOperations } from './login.ts'
import { styleOperation } from './pages/style.ts'
import { toOpenIdProblem } from './problem.ts'
import { sessionEndOperations } from './session-end.ts'
import { signerLoginOperations } from './signer-login.ts'
import { tokenOperation } from './token.ts'
import { totpOperations } from './totp.ts'
import { userInfoOperations } from './user-info.ts'

/** The rows of the OpenID provider, below `/oidc`. What is not a row is not served. */
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

/** What the pipeline needs of the provider. */
export function openIdApi(provider: OpenIdProvider): OpenIdApi {
  return { operations: openIdOperations(provider), bearer: provider.bearerSessions, toProblem: toOpenIdProblem }
}
