import { API_DESCRIPTIONS, type ApiName } from '../documents.ts'
import { tagsOf } from '../openapi/tags.ts'
import { type Html, html } from '../pages/html.ts'
import { API_NAMES, found, type ReferenceEntry } from './operations.ts'
import { pageText } from './page-frame.ts'

/** The page of all operations, or of those that a query finds. */
export function indexPage(entries: readonly ReferenceEntry[], query: string): string {
  const shown = query === '' ? entries : found(entries, query)
  const sections = API_NAMES.flatMap((api) => {
    const ofApi = shown.filter((entry) => entry.api === api)
    return ofApi.length === 0 ? [] : [section(api, ofApi)]
  })
  const links = API_NAMES.map((api) => html`<li><a href="#${api}">${API_DESCRIPTIONS[api].title}</a></li>`)
  const head =
    query === ''
      ? html`<h1>API reference</h1>
<p>${String(entries.length)} operations. What they take and answer is written from what the controller serves, so that this page says what there is.</p>
<nav class="apis" aria-label="APIs"><ul>${links}</ul></nav>`
      : html`<h1>${String(shown.length)} of ${String(entries.length)} operations for “${query}”</h1>
<p><a href="docs">Show all</a></p>`
  const title = query === '' ? 'API reference' : `${query} - API reference`
  return pageText({ title, body: html`${head}${sections}`, base: 'docs/', query })
}

function section(api: ApiName, entries: readonly ReferenceEntry[]): Html {
  const { title, description, basePath } = API_DESCRIPTIONS[api]
  const topics = tagsOf(entries.map(({ shape }) => shape.route)).map(({ name, description: what }) => {
    const rows = entries.filter(({ topic }) => topic === name).map(row)
    return html`<h3>${String(name)}</h3>
<p class="soft">${String(what)}</p>
<ul class="operations">${rows}</ul>
`
  })
  return html`<section id="${api}">
<h2>${title}</h2>
<p>${description} Below <code>${basePath}</code>; as OpenAPI document: <a href="docs/${api}.json">${api}.json</a>.</p>
${topics}
</section>
`
}

function row({ api, id, method, path, shape }: ReferenceEntry): Html {
  return html`<li><span class="method">${method}</span><a class="path" href="docs/${api}/${id}">${path}</a><span class="what">${shape.summary}</span></li>
`
}
