import { type Html, html } from '../../http/html.ts'
import { SECURITY, SECURITY_SCHEMES } from '../../http/openapi/components.ts'
import { operationObject, tagsOf } from '../../http/openapi/operation-object.ts'
import { commonRefusals } from '../../http/openapi/responses.ts'
import { API_DESCRIPTIONS, type ApiName } from '../documents.ts'
import { described, pageText } from './page-frame.ts'
import { API_NAMES, found, type ReferenceEntry, requestExample } from './reference-operations.ts'
import { field, type ShownSchema, schemaView, typeText } from './schema-view.ts'

type Content = Readonly<Record<string, { readonly schema: ShownSchema }>>

interface ShownResponse {
  readonly $ref?: string
  readonly description?: string
  readonly content?: Content
}

interface ShownParameter {
  readonly name: string
  readonly in: string
  readonly description: string
  readonly required?: boolean
  readonly schema: ShownSchema
}

interface ShownOperation {
  readonly description: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters: readonly ShownParameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, ShownResponse>>
}

const SCHEME_NAMES: Readonly<Record<string, string>> = {
  ztSession: 'API session',
  clientCertificate: 'client certificate',
  bearerToken: 'bearer token',
}

const REFUSALS = commonRefusals()

/** The page of one operation: its access, its input, its answer, and an example of a request. */
export function operationPage({ api, method, path, topic, shape }: ReferenceEntry): string {
  // The writer of the documents writes this form.
  const operation = operationObject(shape) as unknown as ShownOperation
  const { description, security = SECURITY, parameters, requestBody, responses } = operation
  const [mediaType, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const body = mediaType === undefined || content === undefined ? undefined : { mediaType, schema: content.schema }
  const needsSession = security.some((way) => 'ztSession' in way)
  const example = requestExample({ method, path, needsSession, body })
  const parts = [
    html`<p class="soft">${API_DESCRIPTIONS[api].title} › ${topic}</p>
<h1>${shape.summary}</h1>
<p><span class="method">${method}</span> <code>${path}</code></p>
<p>${described(description)}</p>
<pre tabindex="0" aria-label="A request on the command line"><code>${example}</code></pre>`,
    card('Credentials', credentials(security)),
    ...(parameters.length === 0
      ? []
      : [card('Parameters', html`<dl class="fields">${parameters.map(parameter)}</dl>`)]),
    ...(requestBody === undefined
      ? []
      : [card(requestBody.required ? 'Body' : 'Body, optional', contents(requestBody.content))]),
    card('Answers', html`${Object.entries(responses).map(([status, response]) => answer(status, response))}`),
  ]
  return pageText({ title: `${method} ${path} - API reference`, body: html`${parts}`, base: '../' })
}

function card(title: string, content: Html): Html {
  return html`<section>
<h2>${title}</h2>
${content}
</section>
`
}

function credentials(ways: NonNullable<ShownOperation['security']>): Html {
  if (ways.length === 0) return html`<p>None.</p>`
  const names = [...new Set(ways.flatMap((way) => Object.keys(way)))]
  const items = names.map(
    (name) => html`<dt class="name">${SCHEME_NAMES[name] ?? name}</dt><dd>${described(schemeText(name))}</dd>`,
  )
  const told = ways.map((way) => {
    const [first, ...others] = Object.keys(way).map((name) => SCHEME_NAMES[name] ?? name)
    return [first ?? 'nothing', ...others].join(' with ')
  })
  return html`<p>${told.join(', or ')}.</p><dl class="fields">${items}</dl>`
}

function schemeText(name: string): string {
  // Every scheme has a description.
  const { description } = SECURITY_SCHEMES[name] as { readonly description: string }
  return description
}

function parameter({ name, in: place, description, required, schema }: ShownParameter): Html {
  return field(`${name} (${place})`, { ...schema, description }, required === true)
}

function contents(content: Content): Html {
  const forms = Object.entries(content).map(
    ([mediaType, { schema }]) =>
      html`<p><code>${mediaType}</code> <span class="type">${typeText(schema)}</span></p>${schemaView(schema)}`,
  )
  return html`${forms}`
}

function answer(status: string, reference: ShownResponse): Html {
  const shared = reference.$ref && REFUSALS[reference.$ref.replace('#/components/responses/', '')]
  // Shared refusals are responses like the others.
  const { description = '', content = {} } = shared ? (shared as ShownResponse) : reference
  const head = html`<span class="status">${status}</span> ${described(description)}`
  return status.startsWith('2')
    ? html`<p>${head}</p>${contents(content)}`
    : html`<details><summary>${head}</summary>${contents(content)}</details>`
}

/** The page of all operations, or of the operations that match a query. */
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
