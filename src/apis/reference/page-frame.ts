import { type Html, html } from '../../http/html.ts'

/** A page of the reference. */
export interface ReferencePage {
  readonly title: string
  readonly body: Html
  /** The prefix of links to pages of the reference: `docs/` from its own address, `../` from below it. */
  readonly base: string
  /** The text that was searched for, if any. */
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

/** Text of a description, with code between backticks. */
export function described(text: string): Html {
  const parts = text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
  return html`${parts}`
}

/** Colours of at least 7:1 in both schemes, a visible focus, and nothing that needs a script. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --soft: #414a54; --page: #f3f5f7; --card: #fff; --line: #6b7480; --rule: #d5dae0; --accent: #0b4f8a; --on: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eef1f4; --soft: #c3ccd5; --page: #14181c; --card: #1f252b; --line: #9aa5b1; --rule: #38424c; --accent: #9fd0ff; --on: #0b1a28; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main, header.top { max-width: 68rem; margin: 0 auto; padding: 1rem 1.25rem; }
header.top { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: center; }
header.top a.home { font-weight: 700; font-size: 1.1rem; }
form.search { display: flex; flex: 1 1 18rem; min-width: 0; gap: .5rem; }
form.search label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
input { flex: 1; min-width: 0; padding: .5rem .6rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .25rem; }
button { padding: .5rem 1rem; font: inherit; font-weight: 600; color: var(--on); background: var(--accent); border: 1px solid var(--accent); border-radius: .25rem; cursor: pointer; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
h1, h2, h3, p, dd, .what { overflow-wrap: anywhere; }
h1 { margin: .25rem 0 .75rem; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.25rem; }
section > h2:first-child { margin-top: 1rem; }
h3 { margin: 1.5rem 0 .25rem; font-size: 1.05rem; }
p { margin: .25rem 0 .75rem; max-width: 48rem; }
.soft { color: var(--soft); }
section, .card { padding: .25rem 1.25rem 1.25rem; margin: 1rem 0; background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; }
nav.apis ul { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0; padding: 0; list-style: none; }
ul.operations { margin: 0; padding: 0; list-style: none; }
ul.operations li { display: grid; grid-template-columns: 4.75rem minmax(12rem, 5fr) minmax(0, 6fr); gap: .25rem .75rem; padding: .35rem 0; border-top: 1px solid var(--rule); align-items: baseline; }
@media (max-width: 44rem) { ul.operations li { grid-template-columns: 4.75rem minmax(0, 1fr); } ul.operations li .what { grid-column: 2; } }
.method { display: inline-block; min-width: 4.25rem; padding: 0 .4rem; text-align: center; font: 600 .8rem/1.6 ui-monospace, monospace; border: 1px solid var(--line); border-radius: .25rem; }
code, .path { font-family: ui-monospace, monospace; font-size: .92em; overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--page); border: 1px solid var(--rule); border-radius: .25rem; }
pre code { overflow-wrap: normal; }
dl.fields { margin: .25rem 0; }
dl.fields dl.fields { margin-left: .25rem; padding-left: 1rem; border-left: 2px solid var(--rule); }
dl.fields dt { padding-top: .4rem; border-top: 1px solid var(--rule); }
dl.fields dd { margin: 0 0 .4rem 1rem; }
dl.fields .name { font: 600 .95rem ui-monospace, monospace; overflow-wrap: anywhere; }
.needed { font-size: .85rem; font-weight: 600; }
.type { font-size: .9rem; color: var(--soft); }
details summary { cursor: pointer; }
.status { font: 600 1rem ui-monospace, monospace; }
`
