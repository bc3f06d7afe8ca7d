import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Html, html, PAGE_STYLE } from '../../../src/browser-pages.ts'
import { LOGOUT_PATH } from './gateway-hosts.ts'

/** An answer of the gateway itself. */
export interface GatewayAnswer {
  readonly status: number
  /** A title and sentences for people; programs get them as JSON. */
  readonly title: string
  readonly text: string
  /** The code for programs. */
  readonly code: string
  /** Further content of the page. */
  readonly content?: Html
  /** Where the page leads at once. */
  readonly leadsTo?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

const STYLE_HASH = createHash('sha256').update(PAGE_STYLE).digest('base64')

/** Nothing of another origin, no script, no frame. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Sends an answer of the gateway: a page to browsers that show one, JSON to others. */
export function sendAnswer(incoming: IncomingMessage, outgoing: ServerResponse, answer: GatewayAnswer): void {
  if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy()
  const isPage = wantsPage(incoming)
  const body = isPage ? pageOf(answer) : JSON.stringify({ error: { code: answer.code, message: answer.text } })
  outgoing.writeHead(answer.status, {
    ...HEADERS,
    'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    // A body that nobody reads would be taken for the next request.
    ...(!incoming.complete && { connection: 'close' }),
    ...Object.fromEntries(
      Object.entries(answer.headers ?? {}).map(([name, value]) => [name, Array.isArray(value) ? [...value] : value]),
    ),
  })
  outgoing.end(body)
}

/** Leads a browser to another address. */
export function redirect(location: string, cookies: readonly string[] = []): GatewayAnswer {
  const headers = { location, ...(cookies.length > 0 && { 'set-cookie': cookies }) }
  return { status: 303, title: 'Moved', text: 'The page is at another address.', code: 'MOVED', headers }
}

/** The services that an identity may open. */
export function appsPage(
  name: string,
  apps: readonly { readonly name: string; readonly url: string }[],
): GatewayAnswer {
  const links = apps.map(({ name: app, url }) => html`<li><a class="button other" href="${url}">${app}</a></li>`)
  const list = links.length === 0 ? html`<p>No app is open to you.</p>` : html`<ul class="signers">${links}</ul>`
  const content = html`${list}
<form method="post" action="${LOGOUT_PATH}"><button class="other" type="submit">Log out</button></form>`
  return { status: 200, title: 'Apps', text: `Logged in as ${name}.`, code: 'APPS', content }
}

function pageOf({ title, text, content, leadsTo }: GatewayAnswer): string {
  const sentences = text.split('\n').map((line) => html`<p>${line}</p>`)
  const refresh = leadsTo === undefined ? '' : html`<meta http-equiv="refresh" content="0;url=${leadsTo}">`
  const link = leadsTo === undefined ? '' : html`<p><a class="button" href="${leadsTo}">Continue</a></p>`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh}
<title>${title}</title>
<style>${new Html(PAGE_STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${sentences}
${link}
${content ?? ''}
</main>
</body>
</html>
`.text
}

/** Whether a browser shows the answer to a person. */
export function wantsPage({ headers }: IncomingMessage): boolean {
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? (headers.accept ?? '').includes('text/html') : mode === 'navigate'
}
