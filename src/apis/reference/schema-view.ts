import { type Html, html } from '../../http/html.ts'
import { SCHEMAS } from '../../http/openapi/components.ts'
import { described } from './page-frame.ts'

/** A schema as the writer of schemas writes it, as far as it is shown. */
export interface ShownSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly nullable?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, ShownSchema>>
  readonly required?: readonly string[]
  readonly items?: ShownSchema
  readonly oneOf?: readonly ShownSchema[]
  readonly allOf?: readonly ShownSchema[]
  readonly additionalProperties?: ShownSchema | boolean
}

/** The schema itself, also where it refers to a shared one. */
export function resolved(schema: ShownSchema): ShownSchema {
  const shared = schema.$ref && SCHEMAS[schema.$ref.replace('#/components/schemas/', '')]
  // The shared schemas are of the same form.
  return shared ? (shared as ShownSchema) : schema
}

/** Shows the members of a schema, one by one, and theirs. */
export function schemaView(reference: ShownSchema): Html {
  const schema = resolved(reference)
  const { properties = {}, required = [], items, oneOf, allOf, additionalProperties } = schema
  const members = Object.entries(properties).map(([name, member]) => field(name, member, required.includes(name)))
  const choices = (oneOf ?? []).map(
    (choice, at) =>
      html`<details><summary>Form ${String(at + 1)} of ${String(oneOf?.length)}</summary>${schemaView(choice)}</details>`,
  )
  const parts = [
    ...(members.length === 0 ? [] : [html`<dl class="fields">${members}</dl>`]),
    ...(items === undefined ? [] : [schemaView(items)]),
    ...(allOf ?? []).map(schemaView),
    ...choices,
    ...(typeof additionalProperties === 'object' ? [schemaView(additionalProperties)] : []),
  ]
  return html`${parts}`
}

/** A named value: of an object, or a parameter. */
export function field(name: string, reference: ShownSchema, isNeeded: boolean): Html {
  const schema = resolved(reference)
  const { description } = schema
  const needed = isNeeded ? html` <span class="needed">required</span>` : html``
  const what = description === undefined ? html`` : html`<div>${described(description)}</div>`
  return html`<dt><span class="name">${name}</span> <span class="type">${typeText(schema)}</span>${needed}</dt>
<dd>${what}${schemaView(schema)}</dd>
`
}

/** Names the type of the values that a schema describes, in words. */
export function typeText(reference: ShownSchema): Html {
  const schema = resolved(reference)
  const { enum: values, default: otherwise, nullable } = schema
  const limits = limitsOf(schema)
  const parts = [
    html`${kindOf(schema)}`,
    ...(values === undefined
      ? []
      : [html`one of ${values.map((value, at) => html`${at > 0 ? ', ' : ''}<code>${String(value)}</code>`)}`]),
    ...limits.map((limit) => html`${limit}`),
    ...(nullable ? [html`may be null`] : []),
    ...(otherwise === undefined ? [] : [html`default <code>${JSON.stringify(otherwise)}</code>`]),
  ]
  return html`${parts.map((part, at) => html`${at > 0 ? '; ' : ''}${part}`)}`
}

function kindOf(schema: ShownSchema): string {
  const { type, format, items, oneOf, allOf, additionalProperties } = schema
  if (type === 'array') return items === undefined ? 'list' : `list of ${kindOf(resolved(items))}`
  if (type === 'object' && typeof additionalProperties === 'object') return 'map'
  if (format === 'date-time') return 'instant, RFC 3339'
  if (format === 'byte') return 'bytes in base64'
  if (type === 'string') return 'text'
  if (type !== undefined) return type
  return oneOf !== undefined ? 'one of several forms' : allOf !== undefined ? 'object' : 'any JSON'
}

/** Bounds that narrow a value; the bounds of every integer are left out. */
function limitsOf({ minimum, maximum, minLength, maxLength, maxItems }: ShownSchema): readonly string[] {
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? [] : [`at least ${minimum}`]
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]
  const shortest = minLength === undefined ? [] : [`at least ${minLength} characters`]
  const longest = maxLength === undefined ? [] : [`at most ${maxLength} characters`]
  return [
    ...least,
    ...most,
    ...shortest,
    ...longest,
    ...(maxItems === undefined ? [] : [`at most ${maxItems} entries`]),
  ]
}
