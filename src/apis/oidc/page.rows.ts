import { type Html, html } from '../../http/html.ts'
import type { Answer } from '../../http/operations/operation.ts'
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
<h1>${title}</h1>
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

/** Colours of at least 7:1 in both schemes, a visible focus, and nothing that needs a script. */
const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --page: #f3f5f7; --card: #fff; --line: #6b7480; --accent: #0b4f8a; --on: #fff; --bad: #8f1020; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eef1f4; --page: #14181c; --card: #1f252b; --line: #9aa5b1; --accent: #9fd0ff; --on: #0b1a28; --bad: #ffb3ba; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 8vh auto; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
h1 { margin: 0 0 1rem; font-size: 1.4rem; }
ul.signers { margin: 0; padding: 0; list-style: none; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1.1rem; }
label { display: block; margin-top: 1rem; font-weight: 600; }
input { width: 100%; padding: .6rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .25rem; }
button, a.button { display: block; width: 100%; text-align: center; text-decoration: none; margin-top: 1.25rem; padding: .7rem; font: inherit; font-weight: 600; color: var(--on); background: var(--accent); border: 1px solid var(--accent); border-radius: .25rem; cursor: pointer; }
button.other, a.other { color: var(--text); background: transparent; border-color: var(--line); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.error { padding: .75rem; color: var(--bad); border: 2px solid var(--bad); border-radius: .25rem; }
.hint { font-size: .9rem; }
img { display: block; width: 16rem; height: 16rem; max-width: 100%; margin: 1rem auto; background: #fff; }
code { overflow-wrap: anywhere; }
.codes { columns: 2; padding-left: 1.5rem; font-family: ui-monospace, monospace; }
`

/** The style of the login pages, which themselves hold none: their content security policy allows nothing else. */
export function styleOperation(provider: OpenIdProvider) {
  return openIdOperation(
    provider,
    { route: 'GET /login/style.css', summary: 'The style of the login pages', access: 'public', form: true },
    async () => ({ raw: STYLE, headers: { 'content-type': 'text/css; charset=utf-8' } }),
  )
}
