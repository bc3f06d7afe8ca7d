import { z } from 'zod'
import { notFound } from '../../base/errors.ts'
import { instant } from '../../base/time.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { isAcceptable } from '../../http/pipeline/read-input.ts'
import { apiPathOf } from '../../http/pipeline/router.ts'
import { Links, Tags } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'

const Spec = described(
  z.object({
    _links: Links,
    createdAt: z.iso.datetime(),
    id: z.string(),
    name: z.string(),
    tags: Tags,
    updatedAt: z.iso.datetime(),
  }),
  { id: 'The id of the document: `edge-client` or `edge-management`.', name: 'The same as the id.' },
)

const APIS = { 'edge-client': 'client', 'edge-management': 'management' } as const
type SpecId = keyof typeof APIS

/** The documents that describe the APIs; deployed clients expect one in the list, that of the client API. */
export const specOperations = [
  defineOperation(
    {
      route: 'GET /specs',
      summary: 'Lists API documents',
      description:
        'Deployed clients expect a single document, that of the client API; that of the management API is found by its id.',
      access: 'public',
      data: z.array(Spec),
    },
    async ({ engine }) => ({ data: [shown('edge-client', engine.startedAt)] }),
  ),
  defineOperation(
    { route: 'GET /specs/{id}', summary: 'Shows one API document', access: 'public', data: Spec },
    async ({ engine, params }) => ({ data: shown(specId(params.id), engine.startedAt) }),
  ),
  defineOperation(
    {
      route: 'GET /specs/{id}/spec',
      summary: 'Serves an API document as YAML or JSON, whichever is accepted',
      access: 'public',
      produces: 'text/yaml',
      orProduces: ['application/json'],
    },
    async ({ params, headers, documents }) => {
      const api = APIS[specId(params.id)]
      const document = documents()[api]
      if (isAcceptable(headers.get('accept'), 'text/yaml')) return { raw: yamlOf(document) }
      return { raw: JSON.stringify(document), headers: { 'content-type': 'application/json' } }
    },
  ),
  defineOperation(
    {
      route: 'GET /swagger.json',
      summary: 'Serves the document of this API',
      access: 'public',
      produces: 'application/json',
    },
    async ({ url, documents }) => ({ raw: JSON.stringify(documents()[apiPathOf(url.pathname).api]) }),
  ),
] as const

/** A document is written once per process, and so is its YAML. */
const YAML_OF = new WeakMap<object, string>()

function yamlOf(document: object): string {
  const yaml = YAML_OF.get(document) ?? `${toYaml(document).trimStart()}\n`
  YAML_OF.set(document, yaml)
  return yaml
}

function specId(id: string): SpecId {
  if (id === 'edge-client' || id === 'edge-management') return id
  throw notFound('spec', id)
}

function shown(id: SpecId, startedAt: number) {
  const self = `./specs/${id}`
  return {
    _links: { self: { href: self }, spec: { href: `${self}/spec` } },
    createdAt: instant(startedAt),
    id,
    name: id,
    tags: {},
    updatedAt: instant(startedAt),
  }
}

/** A JSON value as YAML; texts and keys stay quoted, so that no reader takes them for another type. */
function toYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((element) => `\n${indent}-${nested(element, indent)}`).join('')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    if (members.length > 0) {
      return members.map(([name, member]) => `\n${indent}${JSON.stringify(name)}:${nested(member, indent)}`).join('')
    }
  }
  return ` ${JSON.stringify(value)}`
}

function nested(value: unknown, indent: string): string {
  return toYaml(value, `${indent}  `)
}
