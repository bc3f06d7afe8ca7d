import { type Html, html } from '../pages/html.ts'

/** A page of the reference. */
export interface ReferencePage {
  readonly title: string
  readonly body: Html
  /** How the page refers to what lies below the reference: `docs/` from its own address, `../` from below it. */
  readonly base: string
  /** What was searched for, if anything. */
  readonly query?: string
}

/** Writes a page without scripts, and without anything of another origin; its links hold below any prefix. */
export function pageText({ title, body, base, query = '' }: ReferencePage): string {
  const home = base === '../' ? '../../docs' : 'docs'
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${base}style.css">
</head>
<body>
<header class="top">
<a class="home" href="${home}">Portcullis API reference</a>
<form class="search" role="search" method="get" action="${home}">
<label for="q">Search the operations</label>
<input id="q" name="q" type="search" maxlength="100" placeholder="Path or words, for example: service policies" value="${query}">
<button type="submit">Search</button>
</form>
</header>
<main>
${body}
</main>
</body>
</html>
`.text
}

/** Text of a description, in which code stands between backticks. */
export function described(text: string): Html {
  const parts = text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
  return html`${parts}`
}
