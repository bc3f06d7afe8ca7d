import { ControllerError, TooManyAttempts } from '../../base/errors.ts'
import { visibleLine } from '../../base/text.ts'
import type { MissingFactors } from '../../context/call.ts'
import { type Html, html } from '../../http/html.ts'
import type { Answer } from '../../http/operations/operation.ts'
import { tokenChallenge } from '../../http/pipeline/envelope.ts'
import type { MfaSecrets } from '../../login/mfa-records.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import type { LoginCredentials } from '../../oidc/request-logins.ts'
import { type BrowserSigner, SignerLoginRefused } from '../../oidc/signer-logins.ts'
import { found } from './openid-row.rows.ts'
import { type Page, pageAnswer } from './page.rows.ts'

const OVER = 'This login is over or was never begun. Go back to the application and log in again.'

/** The page on which a login begins. */
export function loginPage(
  provider: OpenIdProvider,
  id: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  return entryPage(provider, id, { headers })
}

/** The same after a login that failed. An error other than wrong credentials is thrown on. */
export function refusedLoginPage(
  provider: OpenIdProvider,
  id: string,
  method: LoginCredentials['method'],
  username: string,
  error: unknown,
): Promise<Answer> {
  if (!(error instanceof ControllerError)) throw error
  if (error instanceof TooManyAttempts) {
    return entryPage(provider, id, { username, status: 429, error: 'Too many logins. Try again later.' })
  }
  if (error.code === 'INVALID_AUTH') {
    return entryPage(provider, id, { username, status: 401, error: PROBLEMS[method] })
  }
  if (error.code === 'UNAUTHORIZED') {
    return entryPage(provider, id, { username, status: 401, error: method === 'ext-jwt' ? PROBLEMS[method] : OVER })
  }
  if (error.code === 'COULD_NOT_VALIDATE') {
    return entryPage(provider, id, { username, status: 400, error: 'Enter your username and your password.' })
  }
  throw error
}

const PROBLEMS: Readonly<Record<LoginCredentials['method'], string>> = {
  password: 'The username or the password is not right.',
  cert: 'Your browser sent no certificate with which you may log in here.',
  'ext-jwt': 'There was no token with which you may log in here.',
}

interface Entry {
  readonly username?: string
  readonly error?: string | undefined
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>>
}

async function entryPage(provider: OpenIdProvider, id: string, entry: Entry): Promise<Answer> {
  const described = entry.error === undefined ? '' : html` aria-describedby="problem" aria-invalid="true"`
  const body = html`<form method="post" action="/oidc/login/username">
<input type="hidden" name="id" value="${id}">
<label for="username">Username</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus value="${entry.username ?? ''}"${described}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${described}>
<button type="submit">Log in</button>
</form>
<p class="or">or</p>
<form method="post" action="/oidc/login/cert">
<input type="hidden" name="id" value="${id}">
<button class="other" type="submit">Log in with a certificate</button>
</form>
${signerLinks(id, await provider.signerLogins.offered())}`
  return pageAnswer(provider, id, { title: 'Log in', body, ...entry })
}

/** Answers the page after a step of a login: the next one, or the way back to the client. */
export async function stepPage(
  provider: OpenIdProvider,
  issuer: string,
  id: string,
  missing: MissingFactors,
): Promise<Answer> {
  if (missing.totp !== undefined) return totpPage(provider, id, missing.totp.isEnrolled)
  return missing.signer === undefined ? completed(issuer, id) : signerPage(provider, id, missing.signer)
}

/** The page of the second factor after a wrong code. */
export async function refusedCodePage(provider: OpenIdProvider, id: string, error: unknown): Promise<Answer> {
  if (!(error instanceof ControllerError)) throw error
  const missing = await provider.totp.missing(id).catch(() => undefined)
  if (missing === undefined) return entryPage(provider, '', { error: OVER, status: 401 })
  const isLimited = error instanceof TooManyAttempts
  const problem = isLimited ? 'Too many wrong codes. Try again later.' : 'The code is not right.'
  return totpPage(provider, id, missing.totp?.isEnrolled ?? true, { error: problem, status: isLimited ? 429 : 200 })
}

/** The page after a failed login at a signer: the page that the browser came from, with the reason. */
export async function refusedSignerPage(provider: OpenIdProvider, id: string, error: unknown): Promise<Answer> {
  const problem = signerProblem(error)
  const missing = await provider.totp.missing(id).catch(() => undefined)
  if (missing === undefined) {
    const isKnown = error instanceof SignerLoginRefused
    const over = isKnown ? problem : { status: 401, error: OVER }
    return pageAnswer(provider, '', { title: 'Log in', body: html``, ...over })
  }
  return missing.signer === undefined
    ? entryPage(provider, id, problem)
    : signerPage(provider, id, missing.signer, problem)
}

/** The page that shows an enrollment in the second factor, with the secret for an authenticator app. */
export async function enrollmentPage(
  provider: OpenIdProvider,
  id: string,
  { provisioningUrl, recoveryCodes }: MfaSecrets,
  entry: Pick<Entry, 'error' | 'status'> = {},
): Promise<Answer> {
  const png = await provider.context.qrCode.png(provisioningUrl)
  const picture = `data:image/png;base64,${btoa(String.fromCharCode(...png))}`
  const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
  const body = html`<p>Scan this picture with an authenticator app, then enter the code that it shows.</p>
<img src="${picture}" alt="QR code for an authenticator app">
<p class="hint">Or enter this key in the app: <code>${secret}</code></p>
${codeForm('/oidc/login/totp/enroll/verify', id, entry.error !== undefined)}
<h2>Recovery codes</h2>
<p class="hint">Each stands for a code once, for the day on which you have no app. Keep them safe: they are not shown again.</p>
<ul class="codes">${recoveryCodes.map((code) => html`<li>${code}</li>`)}</ul>`
  return pageAnswer(provider, id, { title: 'Set up a second factor', body, ...entry })
}

async function totpPage(
  provider: OpenIdProvider,
  id: string,
  isEnrolled: boolean,
  entry: Pick<Entry, 'error' | 'status'> = {},
): Promise<Answer> {
  const pending = isEnrolled ? undefined : await provider.totp.pendingSecrets(id).catch(() => undefined)
  if (pending !== undefined) return enrollmentPage(provider, id, pending, entry)
  if (isEnrolled) {
    const body = codeForm('/oidc/login/totp', id, entry.error !== undefined)
    return pageAnswer(provider, id, { title: 'Enter your code', body, ...entry })
  }
  const body = html`<p>Your network asks for a second factor: a code of an authenticator app.</p>
<form method="post" action="/oidc/login/totp/enroll">
<input type="hidden" name="id" value="${id}">
<button type="submit">Set up an authenticator app</button>
</form>`
  return pageAnswer(provider, id, { title: 'Set up a second factor', body, ...entry })
}

function codeForm(action: string, id: string, isWrong: boolean) {
  const described = isWrong ? html` aria-describedby="problem" aria-invalid="true"` : ''
  return html`<form method="post" action="${action}">
<input type="hidden" name="id" value="${id}">
<label for="code">Code of your authenticator app, or a recovery code</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus maxlength="13"${described}>
<button type="submit">Continue</button>
</form>`
}

/** The answer to a step of a login: on to the callback when no factor is missing, otherwise the missing factors. */
export function stepAnswer(issuer: string, id: string, missing: MissingFactors): Answer {
  return authQueriesOf(missing).authQueries === null ? completed(issuer, id) : pendingAnswer(missing)
}

/** On to the callback, at the host of the request. */
export function completed(issuer: string, id: string): Answer {
  return found(`${issuer}/authorize/callback?id=${encodeURIComponent(id)}`)
}

/** Answers the factors that are still to be proved, in the body and in headers. */
function pendingAnswer(missing: MissingFactors): Answer {
  const { totp, signer, signerProblem } = missing
  const challenge =
    signer && signerProblem && tokenChallenge({ factor: 'secondary', problem: signerProblem, signers: [signer] })
  return {
    raw: JSON.stringify(authQueriesOf(missing)),
    headers: {
      'content-type': 'application/json',
      ...(totp && { 'totp-required': 'true' }),
      ...(challenge && { 'www-authenticate': challenge }),
    },
  }
}

/** Reports whether a client prefers a page to JSON. A client that accepts both alike gets JSON, as SDKs do. */
export function wantsPage(headers: Headers): boolean {
  const accepted = (headers.get('accept') ?? '').split(',').map((range) => range.split(';')[0]?.trim().toLowerCase())
  const page = accepted.findIndex((range) => range === 'text/html' || range === 'text/*')
  const data = accepted.findIndex(
    (range) => range === 'application/json' || range === '*/*' || range === 'application/*',
  )
  return page >= 0 && (data < 0 || page < data)
}

/** Makes the questions that SDKs read while they log in, one for each factor still to be proved; null when there is none. */
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

type Problem = Pick<Page, 'error' | 'status'>

/** Links to external signers, which look like buttons: following one is no form, whose target a policy would have to allow. */
function signerLinks(id: string, signers: readonly Pick<BrowserSigner, 'id' | 'name'>[]): Html {
  if (signers.length === 0) return html``
  const items = signers.map(
    (signer) =>
      html`<li><a class="button other" href="${signerPath(id, signer.id)}">Log in with ${visibleLine(signer.name)}</a></li>`,
  )
  return html`<ul class="signers" aria-label="Other ways to log in">${items}</ul>`
}

/** The page of a login beside which the auth policy demands a token of a signer. */
function signerPage(
  provider: OpenIdProvider,
  id: string,
  { id: signerId, name: given, externalAuthUrl, clientId }: NonNullable<MissingFactors['signer']>,
  problem: Problem = {},
): Promise<Answer> {
  const name = visibleLine(given)
  const way =
    externalAuthUrl && clientId
      ? html`<p>Your network also asks for a login at ${name}.</p>
<p><a class="button" href="${signerPath(id, signerId)}">Continue with ${name}</a></p>`
      : html`<p>Your network also asks for a token of ${name} with each login, which this page cannot get for you. Log in by an application that can.</p>`
  return pageAnswer(provider, id, { title: 'Another proof is needed', body: way, ...problem })
}

/** The problem that the page shows after a failed login at a signer; an unknown error is thrown on. */
function signerProblem(error: unknown): Problem {
  if (error instanceof SignerLoginRefused) {
    const { reason, signer } = error
    const name = visibleLine(signer) || 'That signer'
    if (reason === 'unreachable')
      return { status: 502, error: `${name} cannot be reached now. Try again later, or log in another way.` }
    if (reason === 'refused') return { status: 401, error: `${name} did not log you in here.` }
    return {
      status: 400,
      error: 'This login is over, or was begun in another browser. Go back to the application and log in again.',
    }
  }
  if (error instanceof ControllerError && ['UNAUTHORIZED', 'INVALID_AUTH'].includes(error.code)) {
    return { status: 401, error: 'No person with that login may log in here.' }
  }
  throw error
}

function signerPath(id: string, signerId: string): string {
  return `/oidc/login/signer?${new URLSearchParams({ authRequestID: id, signer: signerId })}`
}
