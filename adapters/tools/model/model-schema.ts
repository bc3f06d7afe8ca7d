import { apiDocuments, VERSION } from '../../../src/index.ts'
import {
  assertionSchema,
  isMap,
  MODEL_KINDS,
  type ModelKey,
  type ModelKind,
  type Network,
  SERVICE_CONFIGS,
} from '../../../src/model/index.ts'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * The JSON Schema (draft 7) of model files, for editors: members, choices and their meanings follow from the declarations of the API. The
 * package has it as `portcullis/model.schema.json`. With a network, editors offer its names and role attributes; others are taken too.
 *
 * @example
 * const network = await modelNetwork(await readModel('network.yaml'))
 * await writeFile('network.schema.json', JSON.stringify(await modelSchema(network), null, 2))
 */
export async function modelSchema(network?: Network): Promise<JsonObject> {
  const { management, portcullis } = await apiDocuments(VERSION)
  const kinds = MODEL_KINDS.map((kind) => {
    const { name } = kind.resource
    const request = at(
      name === 'webhooks' ? portcullis : management,
      'paths',
      `/${name}`,
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
    )
    return [kind.key, { type: 'array', items: entitySchema(kind, request, network) }] as const
  })
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'A network of Portcullis',
    description: 'Entities as requests of the management API create them, with names where the API takes ids.',
    type: 'object',
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(kinds),
      assertions: { type: 'array', description: 'Statements that must hold in the network.', items: assertionSchema() },
    },
  }
}

function at(value: unknown, ...path: readonly string[]): JsonObject {
  const found = path.reduce<unknown>((part, member) => (isMap(part) ? part[member] : undefined), value)
  return isMap(found) ? found : {}
}

function entitySchema(
  { key, links, assumed }: ModelKind,
  request: JsonObject,
  network: Network | undefined,
): JsonObject {
  const properties = Object.fromEntries(
    Object.entries(at(request, 'properties')).map(([name, schema]) => {
      const link = links.find(({ path }) => path.length === 1 && path[0] === name)
      const known = strict(schema)
      if (!isMap(known)) return [name, known]
      if (name === 'roleAttributes') return [name, offering(known, attributesOf(network, key))]
      return [name, link === undefined ? known : linkSchema(known, link, network)]
    }),
  )
  const own = key === 'identities' ? { [SERVICE_CONFIGS]: PAIRS } : {}
  const asked: readonly unknown[] = Array.isArray(request.required) ? request.required : []
  const required = asked.filter((name) => !Object.hasOwn(assumed, String(name)))
  return { ...request, properties: { ...properties, ...own }, required, additionalProperties: false }
}

type Link = ModelKind['links'][number]

/** A member that refers to other entities, which models do by name. */
function linkSchema(schema: JsonObject, { to, form }: Link, network: Network | undefined): JsonObject {
  const names = network?.all(to).map(({ name }) => name) ?? []
  if (form !== 'roles') {
    return offering({ ...schema, description: `${form === 'names' ? 'Names' : 'The name'} of ${to}.` }, names)
  }
  const description = `Which ${to} are selected: #attribute, #all, or @ and a name.`
  const items = { type: 'string', pattern: '^[#@].' }
  const roles = [...attributesOf(network, to).map((one) => `#${one}`), ...names.map((name) => `@${name}`)]
  return offering({ ...schema, description, items }, roles)
}

/** The role attributes of the entities of a kind, each once. */
function attributesOf(network: Network | undefined, key: ModelKey): readonly string[] {
  const bodies = network?.all(key).map(({ body }) => body.roleAttributes) ?? []
  return [...new Set(bodies.flat().filter((one) => typeof one === 'string'))].toSorted()
}

/** The schema of a text or of a list of texts, with suggestions. It accepts the same values as before. */
function offering(schema: JsonObject, texts: readonly string[]): JsonObject {
  if (texts.length === 0) return schema
  if (isMap(schema.items)) return { ...schema, items: offering(schema.items, texts) }
  const { description, ...form } = schema
  return { ...(description !== undefined && { description }), anyOf: [{ enum: texts }, form] }
}

const PAIRS: JsonObject = {
  type: 'array',
  description: "Configs that the identity sees for services instead of the services' own, by name.",
  items: {
    type: 'object',
    required: ['service', 'config'],
    additionalProperties: false,
    properties: { service: { type: 'string' }, config: { type: 'string' } },
  },
}

/** The schema in standard JSON Schema, with all declared members and no others. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (!isMap(schema)) return schema
  const { default: _, ...rest } = schema
  const parts = Object.entries(rest).map(([name, part]) => [name, strict(part)] as const)
  const read: Record<string, unknown> = Object.fromEntries(parts)
  // `Invalid` stands only in answers of the API.
  if (Array.isArray(read.enum)) read.enum = read.enum.filter((word) => word !== 'Invalid')
  if (isMap(read.properties) && read.additionalProperties === undefined) read.additionalProperties = false
  return read
}
