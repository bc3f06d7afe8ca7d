import { chooseIssuer } from '../../../domain/oidc/issuers.ts'
import type { OpenIdProvider } from '../../../engine/oidc/openid-provider.ts'
import type { Answer } from '../../operations/answer.ts'
import type { OperationInput } from '../../operations/define-operation.ts'
import type { Operation, OperationShape } from '../../operations/operation.ts'
import { HttpRefusal } from '../../pipeline/answer/problem.ts'
import { UnknownPath } from '../../pipeline/router.ts'

/** What an operation of the provider is given: its input, and the issuer that the request's host chose. */
export type OpenIdInput<S extends OperationShape> = OperationInput<S> & {
  readonly provider: OpenIdProvider
  readonly issuer: string
}

const LOGIN_STEP = /^(POST|DELETE) \/login\//

/**
 * Declares an operation of the provider. The host of the request only chooses among the issuers of the configuration: for
 * any other host there is no such path.
 */
export function openIdOperation<const S extends OperationShape>(
  provider: OpenIdProvider,
  shape: S,
  handle: (input: OpenIdInput<S>) => Promise<Answer>,
): Operation {
  return {
    shape,
    handle: async (input: OperationInput<S>) => {
      const issuer = chooseIssuer(input.url.host, provider.context.provider.issuers)
      if (issuer === undefined) throw new UnknownPath(input.url.pathname)
      if (LOGIN_STEP.test(shape.route)) requireOrigin(input.headers, issuer, provider)
      return handle({ ...input, provider, issuer })
    },
  }
}

/**
 * Refuses a step of a login that a page of another origin makes the browser of somebody take, whose certificate would come
 * with it. Only browsers send the header. Error: `UNAUTHORIZED` with status 403.
 */
function requireOrigin(headers: Headers, issuer: string, { context }: OpenIdProvider): void {
  const origin = headers.get('origin')
  if (origin === null || origin === new URL(issuer).origin || context.provider.origins.includes(origin)) return
  throw new HttpRefusal('UNAUTHORIZED', 403, { field: 'Origin', reason: 'pages of this origin may log nobody in' })
}
