import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { apiDocuments } from 'portcullis'

type Json = Readonly<Record<string, unknown>>

/** Holds answers against the OpenAPI documents of the APIs that gave them. */
export interface AnswerChecker {
  /** Operations that were answered with success, as `client GET /services`. */
  readonly succeeded: ReadonlySet<string>
  /** Members of an answer that its document does not list, and those that it lists and the answer has not. */
  faultsOf(request: Request, response: Response): Promise<readonly string[]>
}

/** A checker of the documents as they are published. Nothing but what a document shows may be in an answer. */
export async function answerChecker(): Promise<AnswerChecker> {
  const written = await apiDocuments('v0')
  const documents = { client: closed(written.client), management: closed(written.management) }
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
  formats.default(ajv)
  for (const [api, document] of Object.entries(documents)) ajv.addSchema(document, api)
  const succeeded = new Set<string>()
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = ($ref: string) => {
    const validator = validators.get($ref) ?? ajv.compile({ $ref })
    validators.set($ref, validator)
    return validator
  }

  return {
    succeeded,
    faultsOf: async (request, response) => {
      const found = pathBelow(new URL(request.url).pathname)
      if (found === undefined) return []
      const { api, path } = found
      const template = templateOf(documents[api], request.method, path)
      if (template === undefined) return []
      const operation = `${api} ${request.method} ${template}`
      if (response.ok) succeeded.add(operation)
      const at = ['paths', template, request.method.toLowerCase(), 'responses', String(response.status)]
      const mediaType = response.headers.get('content-type') ?? ''
      const declared = content(documents[api], at)
      if (declared === undefined) return [`${operation}: ${response.status} is not in the document`]
      if (!Object.hasOwn(declared.types, mediaType)) return [`${operation}: ${mediaType} is not in the document`]
      if (mediaType !== 'application/json' || template.endsWith('/spec')) return []
      const isValid = validatorOf(`${api}#/${[...declared.at, 'content', mediaType, 'schema'].map(escaped).join('/')}`)
      if (isValid(await response.json())) return []
      return (isValid.errors ?? []).map(
        ({ instancePath, message, params }) =>
          `${operation} ${response.status}: ${instancePath} ${message} ${JSON.stringify(params)}`,
      )
    },
  }
}

/** An API with a document of its own, and the path of one of its operations; undefined for a path of another API. */
function pathBelow(pathname: string): { readonly api: 'client' | 'management'; readonly path: string } | undefined {
  if (/^\/(?:portcullis|fabric)\/v1(?:\/|$)/.test(pathname)) return undefined
  const [, base = '', path = ''] = /^(\/edge\/management\/v1|\/edge\/client\/v1|\/edge\/v1)?(.*)$/.exec(pathname) ?? []
  return { api: base === '/edge/management/v1' ? 'management' : 'client', path }
}

/** The path template that answers a path: of several the one with the fewest parameters. */
function templateOf(document: Json, method: string, path: string): string | undefined {
  const segments = segmentsOf(path)
  const templates = Object.entries(asJson(document.paths)).filter(([template, methods]) => {
    const wanted = segmentsOf(template)
    const isMatch = wanted.every((segment, index) => segment.startsWith('{') || segment === segments[index])
    return isMatch && wanted.length === segments.length && Object.hasOwn(asJson(methods), method.toLowerCase())
  })
  const [best] = templates.sort(([a], [b]) => a.split('{').length - b.split('{').length)
  return best?.[0]
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '')
}

/** The media types of an answer, and where they stand in the document. */
function content(
  document: Json,
  at: readonly string[],
): { readonly at: readonly string[]; readonly types: Json } | undefined {
  const response = at.reduce<unknown>((value, key) => asJson(value)[key], document)
  if (response === undefined) return undefined
  const { $ref, content: types } = asJson(response)
  return typeof $ref === 'string' ? content(document, $ref.slice(2).split('/')) : { at, types: asJson(types) }
}

/** A document for a validator: objects have no members beyond their own. */
function closed(value: unknown): Json {
  return asJson(closedPart(value))
}

function closedPart(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedPart)
  if (typeof value !== 'object' || value === null) return value
  const rest = Object.fromEntries(Object.entries(together(asJson(value))).map(([key, part]) => [key, closedPart(part)]))
  const isOpen = typeof rest.properties !== 'object' || rest.additionalProperties !== undefined
  return isOpen ? rest : { ...rest, additionalProperties: false }
}

/** Objects that are described in parts are one. */
function together({ allOf, ...rest }: Json): Json {
  if (!Array.isArray(allOf)) return rest
  const parts = [rest, ...allOf.map(asJson)]
  return {
    type: 'object',
    required: parts.flatMap(({ required }) => listOf(required)),
    properties: Object.fromEntries(parts.flatMap(({ properties }) => Object.entries(asJson(properties)))),
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
