import { chooseIssuer } from '../../facts/oidc/discovery.rules.ts'
import type { OperationInput } from '../../http/operations/define-operation.ts'
import type { Answer, Operation, OperationShape } from '../../http/operations/operation.ts'
import { HttpRefusal } from '../../http/pipeline/problem.ts'
import { UnknownPath } from '../../http/pipeline/router.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'

/** The arguments of an operation of the provider: its input, and the issuer that the request's host chose. */
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
 * Refuses a step of a login that a page of another origin makes a browser take: the browser would send its client
 * certificate. Only browsers send the header. Error: `UNAUTHORIZED` with status 403.
 */
function requireOrigin(headers: Headers, issuer: string, { context }: OpenIdProvider): void {
  const origin = headers.get('origin')
  if (origin === null || origin === new URL(issuer).origin || context.provider.origins.includes(origin)) return
  throw new HttpRefusal('UNAUTHORIZED', 403, { field: 'Origin', reason: 'pages of this origin may log nobody in' })
}

/** A JSON answer without envelope, as OAuth 2.0 has it. */
export function json(body: unknown, further: Omit<Answer, 'raw'> = {}): Answer {
  return {
    ...further,
    raw: `${JSON.stringify(body)}\n`,
    headers: { 'content-type': 'application/json', ...further.headers },
  }
}

/** Plain text. */
export function text(body: string, further: Omit<Answer, 'raw'> = {}): Answer {
  return { ...further, raw: body, headers: { 'content-type': 'text/plain; charset=utf-8', ...further.headers } }
}

/** Redirects the client; a browser that does not follow shows the address. */
export function found(location: string): Answer {
  return { raw: '', status: 302, headers: { location, 'content-type': 'text/plain; charset=utf-8' } }
}
