import { API_DESCRIPTIONS } from '../documents.ts'
import { SECURITY, SECURITY_SCHEMES } from '../openapi/components.ts'
import { operationObject } from '../openapi/operation-object.ts'
import { commonRefusals } from '../openapi/responses.ts'
import { type Html, html } from '../pages/html.ts'
import type { ReferenceEntry } from './operations.ts'
import { described, pageText } from './page-frame.ts'
import { requestExample } from './request-example.ts'
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

/** The page of one operation: who may call it, what it takes, what it answers, and a request to begin with. */
export function operationPage({ api, method, path, topic, shape }: ReferenceEntry): string {
  // What the writer of the documents writes has this form.
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
  // Every scheme is described.
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
