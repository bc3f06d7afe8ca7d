import { type Html, html } from '../../http/html.ts'
import type { Answer } from '../../http/operations/operation.ts'
import { PAGE_STYLE } from '../../http/page-style.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import { openIdOperation } from './openid-row.rows.ts'

/** A page of a login. */
export interface Page {
  readonly title: string
  readonly body: Html
  /** The error, for people. */
  readonly error?: string | undefined
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** The mark of the controller, as its explorer has it. */
const MARK = html`<svg viewBox="0 0 32 32" aria-hidden="true"><path stroke-width="3" d="M5 29V14a11 11 0 0 1 22 0v15"/><path stroke-width="2" d="M11 9v17m5-20v20m5-17v17M7 15h18M7 21h18"/></svg>`

/**
 * Writes a page, without scripts, frames or anything of another origin. Forms may be sent to this provider alone; where
 * that leads back to the client of the auth request, browsers ask for its origin to be allowed as well.
 */
export async function pageAnswer(provider: OpenIdProvider, id: string, page: Page): Promise<Answer> {
  const client = await originOfClient(provider, id)
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    'img-src data:',
    `form-action 'self'${client === undefined ? '' : ` ${client}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  const { title, body, error } = page
  const alert = error === undefined ? '' : html`<p class="error" id="problem" role="alert">${error}</p>`
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${error === undefined ? title : `Error: ${title}`}</title>
<link rel="stylesheet" href="/oidc/login/style.css">
</head>
<body>
<main>
<h1>${MARK}${title}</h1>
${alert}
${body}
</main>
</body>
</html>
`
  return {
    raw: document.text,
    status: page.status ?? 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      // With less, browsers send no origin with the form, and the provider requires it.
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
      ...page.headers,
    },
  }
}

async function originOfClient(provider: OpenIdProvider, id: string): Promise<string | undefined> {
  const request = await provider.requests.get(id).catch(() => undefined)
  if (request === undefined || !URL.canParse(request.request.redirectUri)) return undefined
  const { protocol, origin } = new URL(request.request.redirectUri)
  return protocol === 'http:' || protocol === 'https:' ? origin : protocol
}

/** The style of the login pages, which themselves hold none: their content security policy allows nothing else. */
export function styleOperation(provider: OpenIdProvider) {
  return openIdOperation(
    provider,
    { route: 'GET /login/style.css', summary: 'The style of the login pages', access: 'public', form: true },
    async () => ({ raw: PAGE_STYLE, headers: { 'content-type': 'text/css; charset=utf-8' } }),
  )
}
