import { chooseIssuer } from '../../../domain/oidc/issuers.ts'
import type { OpenIdProvider } from '../../../engine/oidc/openid-provider.ts'
import type { Answer } from '../../operations/answer.ts'
import type { OperationInput } from '../../operations/define-operation.ts'
import type { Operation, OperationShape } from '../../operations/operation.ts'
import { UnknownPath } from '../../pipeline/router.ts'

/** What an operation of the provider is given: its input, and the issuer that the request's host chose. */
export type OpenIdInput<S extends OperationShape> = OperationInput<S> & {
  readonly provider: OpenIdProvider
  readonly issuer: string
}

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
      return handle({ ...input, provider, issuer })
    },
  }
}
