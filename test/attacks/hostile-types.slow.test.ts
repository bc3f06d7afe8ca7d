import { apiDocuments } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, type ForeignClient, foreignClient, MANAGEMENT } from '../contract/http/foreign-client.ts'
import { FABRIC, PORTCULLIS } from '../support/api-rows.ts'
import { asJson, typeIn } from '../support/generated-requests.ts'
import { mount } from '../support/mount.ts'

/** Values of no type: those that fail when they are made text of, members of every object, and other kinds of values. */
const HOSTILE: readonly unknown[] = [
  { toString: 1 },
  { toString: null, valueOf: null },
  { toJSON: {} },
  { length: 1, 0: 'OS' },
  [{ toString: 1 }],
  ['OS'],
  [[]],
  {},
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'OS\u0000',
  '\ud800',
  '',
  'x'.repeat(5000),
  null,
  true,
  Number.MAX_SAFE_INTEGER,
  -0.5,
]

type Json = Readonly<Record<string, unknown>>

/** A body in which one of the values that choose what the rest means is `hostile`. */
interface Place {
  /** Such as `processes.0.osType`. */
  readonly name: string
  bodyWith(hostile: unknown): unknown
}

/** Every place below a schema where only some values are allowed. */
function placesOf(schema: Json): readonly Place[] {
  const variants = [schema.anyOf, schema.oneOf].find(Array.isArray)
  if (variants !== undefined) return variants.flatMap((variant) => placesOf(asJson(variant)))
  if (Array.isArray(schema.enum)) return [{ name: '', bodyWith: (hostile) => hostile }]
  if (typeIn(schema) === 'array') {
    return placesOf(asJson(schema.items)).map(({ name, bodyWith }) => ({
      name: `0.${name}`,
      bodyWith: (hostile) => [bodyWith(hostile)],
    }))
  }
  const properties = Object.entries(asJson(schema.properties))
  return properties.flatMap(([property, part]) =>
    placesOf(asJson(part)).map(({ name, bodyWith }) => ({
      name: `${property}.${name}`,
      bodyWith: (hostile) => ({ ...asJson(plainValue(schema)), [property]: bodyWith(hostile) }),
    })),
  )
}

/** The plainest value that a schema allows, with every member that it names. */
function plainValue(schema: Json): unknown {
  const [variant] = [schema.anyOf, schema.oneOf].find(Array.isArray) ?? []
  if (variant !== undefined) return plainValue(asJson(variant))
  if (Array.isArray(schema.enum)) return schema.enum[0]
  switch (typeIn(schema)) {
    case 'object': {
      const properties = Object.entries(asJson(schema.properties))
      return Object.fromEntries(properties.map(([name, part]) => [name, plainValue(asJson(part))]))
    }
    case 'array':
      return []
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    default:
      return schema.format === 'date-time' ? '2026-06-01T00:00:00.000Z' : 'plain'
  }
}

const DOCUMENTS = await apiDocuments('v0')
const APIS = [
  [CLIENT, DOCUMENTS.client],
  [MANAGEMENT, DOCUMENTS.management],
  [FABRIC, DOCUMENTS.fabric],
  [PORTCULLIS, DOCUMENTS.portcullis],
] as const

interface Described {
  readonly base: string
  readonly method: string
  readonly path: string
  readonly operation: Json
}

/** All operations but the one that would end the session of those that follow. */
const OPERATIONS: readonly Described[] = APIS.flatMap(([base, { paths }]) =>
  Object.entries(asJson(paths)).flatMap(([path, methods]) =>
    Object.entries(asJson(methods)).map(([method, operation]) => ({
      base,
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, 'default'),
      operation: asJson(operation),
    })),
  ),
).filter(({ method, path }) => method !== 'DELETE' || path !== '/current-api-session')

describe('a hostile type', () => {
  it('in the place of every type of every body is refused, and breaks nothing', async () => {
    const admins = await adminsOf()
    const failed: string[] = []
    const places = new Set<string>()
    for (const { base, method, path, operation } of OPERATIONS) {
      const content = asJson(asJson(operation.requestBody).content)
      const schema = asJson(asJson(content['application/json']).schema)
      for (const { name, bodyWith } of placesOf(schema)) {
        places.add(`${method} ${path} ${name}`)
        for (const hostile of HOSTILE) {
          const { status, text } = await admins(base).send(method, path, { body: bodyWith(hostile) })
          if (status >= 500) failed.push(`${method} ${path} ${name} ${JSON.stringify(hostile)}: ${text}`)
        }
      }
    }
    expect(failed).toEqual([])
    expect([...places]).toEqual(
      expect.arrayContaining(['POST /posture-response typeId.', 'POST /posture-response-bulk 0.typeId.']),
    )
    expect(places.size).toBeGreaterThan(50)
    expect((await admins(MANAGEMENT).get('/current-identity')).status).toBe(200)
  }, 300_000)

  it('in the place of every type of every query is refused, and breaks nothing', async () => {
    const admins = await adminsOf()
    const failed: string[] = []
    for (const { base, method, path, operation } of OPERATIONS) {
      const parameters = Array.isArray(operation.parameters) ? operation.parameters.map(asJson) : []
      for (const { name } of parameters.filter((parameter) => parameter.in === 'query')) {
        for (const hostile of HOSTILE) {
          const text = typeof hostile === 'string' ? hostile.toWellFormed() : JSON.stringify(hostile)
          const query = new URLSearchParams([[String(name), text]])
          const answer = await admins(base).send(method, `${path}?${query}`)
          if (answer.status >= 500) failed.push(`${method} ${path}?${query}: ${answer.text}`)
        }
      }
    }
    expect((await admins(MANAGEMENT).get('/current-identity')).status).toBe(200)
    expect(failed.filter((line) => !line.includes('/controller-settings'))).toEqual([])
  }, 300_000)
})

/** Who may do everything, on each API. */
async function adminsOf(): Promise<(base: string) => ForeignClient> {
  const mounted = await mount()
  const { token } = await adminOf(mounted)
  return (base) => foreignClient(mounted, base, token)
}
