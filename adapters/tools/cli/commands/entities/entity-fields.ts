import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { apiDocuments } from '../../../../../src/index.ts'
import { VERSION } from '../../../../../src/version.ts'
import type { GivenOptions, OptionDeclarations } from '../../command-line/options.ts'
import { UsageError } from '../../command-line/usage.ts'

/** A field of a request, as the API document describes it. */
interface FieldSchema {
  readonly type?: string | readonly [type: string, orNull: 'null']
  readonly enum?: readonly (string | null)[]
  readonly description?: string
  readonly default?: unknown
  readonly items?: { readonly type?: string }
}

/** A field of a request by its name. */
interface Field {
  readonly name: string
  readonly schema: FieldSchema
  readonly isNeeded: boolean
}

/** A JSON object. */
export type Body = Readonly<Record<string, unknown>>

/** Fields that must not stand on a command line, which every user of the machine may read. */
const SECRET = /password|secret/i

/** The API that has a collection. */
export function apiOf(collection: string): 'management' | 'portcullis' {
  return collection === 'webhooks' ? 'portcullis' : 'management'
}

/** The options that stand for the fields of a request, by the declarations of the API: `--role-attributes` for `roleAttributes`. */
export async function fieldOptions(collection: string, verb: 'create' | 'patch'): Promise<OptionDeclarations> {
  const fields = await fieldsOf(collection, verb)
  return Object.fromEntries(
    fields.map(({ name, schema, isNeeded }) => [
      optionOf(name),
      {
        value: placeholderOf(schema),
        summary: `${schema.description ?? ''}${absentText(schema, isNeeded)}`,
        ...(isTextList(schema) && { repeatable: true as const }),
        ...(schema.enum && { choices: choicesOf(schema.enum) }),
      },
    ]),
  )
}

/** The body that the options describe. Throws {@link UsageError} naming an option with an invalid value. */
export async function readBody(
  collection: string,
  verb: 'create' | 'patch',
  options: GivenOptions<string>,
): Promise<Body> {
  const body: Record<string, unknown> = { ...(await readData(options.typed('body'))) }
  const fields = await fieldsOf(collection, verb)
  for (const { name, schema } of fields) {
    const option = optionOf(name)
    const given = options.typed(option)
    if (given !== undefined)
      body[name] = isTextList(schema) ? textsOf(options, option) : readValue(option, given, schema)
  }
  const defaults = fields.filter(isFalseUnlessGiven).map(({ name }) => [name, false] as const)
  if (Object.keys(body).length > 0) return { ...Object.fromEntries(defaults), ...body }
  throw new UsageError(`say what it has: portcullis ${collection} ${verb} --help lists the fields`)
}

/** The API requires some choices that are nearly always false: an omitted option means false. */
function isFalseUnlessGiven({ schema, isNeeded }: Field): boolean {
  return isNeeded && typeOf(schema) === 'boolean'
}

/** A sentence of help about a field that is left out. */
function absentText(schema: FieldSchema, isNeeded: boolean): string {
  if (typeOf(schema) === 'boolean' && (isNeeded || schema.default === false)) return ' Default: false.'
  return isNeeded ? ' Needed.' : ''
}

async function fieldsOf(collection: string, verb: 'create' | 'patch'): Promise<readonly Field[]> {
  const document = (await apiDocuments(VERSION))[apiOf(collection)]
  const [path, method] = verb === 'create' ? [`/${collection}`, 'post'] : [`/${collection}/{id}`, 'patch']
  const operation = memberOf(memberOf(memberOf(document, 'paths'), path), method)
  const content = memberOf(memberOf(memberOf(operation, 'requestBody'), 'content'), 'application/json')
  const schema = memberOf(content, 'schema')
  const properties = memberOf(schema, 'properties')
  const needed: unknown = schema && Reflect.get(schema, 'required')
  const isNeeded = (name: string) => verb === 'create' && Array.isArray(needed) && needed.includes(name)
  // The document is written by the declarations: its schemas are JSON schemas.
  const fields = Object.entries(properties ?? {}) as [string, FieldSchema][]
  return fields
    .filter(([name]) => !SECRET.test(name))
    .map(([name, schema]) => ({ name, schema, isNeeded: isNeeded(name) }))
}

function memberOf(value: unknown, name: string): object | undefined {
  const member: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  return typeof member === 'object' && member !== null ? member : undefined
}

function optionOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Leaves out choices that may not be written: the type `Invalid` of policies is a word of the API for reading alone. */
function choicesOf(words: readonly (string | null)[]): readonly string[] {
  return words.flatMap((word) => (word === null || word === 'Invalid' ? [] : word))
}

function isTextList(schema: FieldSchema): boolean {
  return typeOf(schema) === 'array' && schema.items?.type === 'string'
}

/** The type of a field, which may be null besides. */
function typeOf({ type }: FieldSchema): string | undefined {
  return typeof type === 'string' ? type : type?.[0]
}

function placeholderOf(schema: FieldSchema): string {
  if (schema.enum !== undefined) return choicesOf(schema.enum).join('|')
  if (isTextList(schema)) return 'TEXT,...'
  switch (typeOf(schema)) {
    case 'string':
      return 'TEXT'
    case 'boolean':
      return 'true|false'
    case 'integer':
    case 'number':
      return 'NUMBER'
    default:
      return 'JSON'
  }
}

function textsOf(options: GivenOptions<string>, option: string): readonly string[] {
  return options.settings(option).flatMap(({ value }) => value.split(',').map((part) => part.trim()))
}

function readValue(option: string, given: string, schema: FieldSchema): unknown {
  switch (typeOf(schema)) {
    case 'string':
      return given
    case 'boolean':
      if (given === 'true' || given === 'false') return given === 'true'
      throw new UsageError(`--${option} takes true or false, not '${given}'`)
    case 'integer':
    case 'number':
      if (given.trim() !== '' && Number.isFinite(Number(given))) return Number(given)
      throw new UsageError(`--${option} takes a number, not '${given}'`)
    default:
      return parseJson(`--${option}`, given)
  }
}

async function readData(given: string | undefined): Promise<Body> {
  if (given === undefined) return {}
  const data = parseJson('--body', await contentOf(given))
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { ...data }
  throw new UsageError('--body takes a JSON object')
}

async function contentOf(given: string): Promise<string> {
  if (given === '-') return text(process.stdin)
  if (!given.startsWith('@')) return given
  const file = given.slice(1)
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`--body: '${file}' cannot be read`, { cause: error })
  })
}

/** The text itself stays out of the message: it may hold a secret. */
function parseJson(option: string, given: string): unknown {
  try {
    return JSON.parse(given)
  } catch (error) {
    throw new UsageError(`${option} takes JSON`, { cause: error })
  }
}
