import { ControllerError } from '../../base/errors.ts'
import { type Html, html } from '../../http/html.ts'
import type { Answer } from '../../http/operations/operation.ts'
import type { MissingFactors } from '../../kernel/context/call.ts'
import type { OpenIdProvider } from '../openid-provider.ts'
import { type BrowserSigner, SignerLoginRefused } from '../signer-logins.ts'
import { type Page, pageAnswer } from './page.rows.ts'

type Problem = Pick<Page, 'error' | 'status'>

/** Links to external signers, which look like buttons: following one is no form, whose target a policy would have to allow. */
export function signerLinks(id: string, signers: readonly Pick<BrowserSigner, 'id' | 'name'>[]): Html {
  if (signers.length === 0) return html``
  const items = signers.map(
    (signer) =>
      html`<li><a class="button other" href="${signerPath(id, signer.id)}">Log in with ${signer.name}</a></li>`,
  )
  return html`<ul class="signers" aria-label="Other ways to log in">${items}</ul>`
}

/** The page of a login beside which the auth policy demands a token of a signer. */
export function signerPage(
  provider: OpenIdProvider,
  id: string,
  { id: signerId, name, externalAuthUrl, clientId }: NonNullable<MissingFactors['signer']>,
  problem: Problem = {},
): Promise<Answer> {
  const way =
    externalAuthUrl && clientId
      ? html`<p>Your network also asks for a login at ${name}.</p>
<p><a class="button" href="${signerPath(id, signerId)}">Continue with ${name}</a></p>`
      : html`<p>Your network also asks for a token of ${name} with each login, which this page cannot get for you. Log in by an application that can.</p>`
  return pageAnswer(provider, id, { title: 'Another proof is needed', body: way, ...problem })
}

/** Tells people why a login at a signer failed; where nobody knows, the error goes on. */
export function signerProblem(error: unknown): Problem {
  if (error instanceof SignerLoginRefused) {
    const { reason, signer } = error
    const name = signer || 'That signer'
    if (reason === 'unreachable')
      return { status: 502, error: `${name} cannot be reached now. Try again later, or log in another way.` }
    if (reason === 'refused') return { status: 401, error: `${name} did not log you in here.` }
    return {
      status: 400,
      error: 'This login is over, or was begun in another browser. Go back to the application and log in again.',
    }
  }
  if (error instanceof ControllerError && ['UNAUTHORIZED', 'INVALID_AUTH'].includes(error.code)) {
    return { status: 401, error: 'Nobody who may log in here is known by that login.' }
  }
  throw error
}

function signerPath(id: string, signerId: string): string {
  return `/oidc/login/signer?${new URLSearchParams({ authRequestID: id, signer: signerId })}`
}
