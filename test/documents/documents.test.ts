import { apiDocuments } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { asJson } from '../support/generated-requests.ts'

type Json = Readonly<Record<string, unknown>>

const SENTENCE = /^[A-Z`][^\n]{5,}\.$/
const SUMMARY = /^[A-Z][^\n]{5,}$/

const TABLE = Object.entries(await apiDocuments('v0')).map(([api, document]) => [api, document] as const)

function operationsOf(document: Json) {
  return Object.entries(asJson(document.paths)).flatMap(([path, methods]) =>
    Object.entries(asJson(methods)).map(([method, operation]) => ({
      route: `${method} ${path}`,
      operation: asJson(operation),
    })),
  )
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Every part of a document that has to say what it is, by its place: schema properties and branches of unions. */
function toDescribe(part: unknown, place: string): readonly (readonly [place: string, part: Json])[] {
  if (Array.isArray(part)) return part.flatMap((one, index) => toDescribe(one, `${place}.${index}`))
  if (typeof part !== 'object' || part === null) return []
  const { properties, oneOf, ...others } = asJson(part)
  const members = Object.entries(asJson(properties)).map(([name, member]) => [`${place}.${name}`, member] as const)
  const branches = listOf(oneOf).map((branch, index) => [`${place}|${index}`, branch] as const)
  const unions = branches.filter(([, branch]) => asJson(branch).oneOf === undefined)
  return [
    ...[...members, ...unions].map(([where, found]) => [where, asJson(found)] as const),
    ...[...members, ...branches, ...Object.entries(others)].flatMap(([where, found]) =>
      toDescribe(found, where.startsWith(place) ? where : `${place}.${where}`),
    ),
  ]
}

function resolved(document: Json, part: Json): Json {
  if (typeof part.$ref !== 'string') return part
  return part.$ref
    .split('/')
    .slice(1)
    .reduce<Json>((found, name) => asJson(found[name]), document)
}

describe.each(TABLE)('the document of the %s API', (_api, document: Json) => {
  const operations = operationsOf(document)
  const components = asJson(document.components)

  it('has operations, each with an id of its own and a topic that the document explains', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(ids.length).toBeGreaterThan(0)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z]\w+$/.test(String(id)))).toEqual([])
    const topics = listOf(document.tags).map(asJson)
    expect(topics.filter(({ description }) => !SENTENCE.test(String(description)))).toEqual([])
    const known = topics.map(({ name }) => name)
    expect(operations.filter(({ operation }) => !listOf(operation.tags).some((tag) => known.includes(tag)))).toEqual([])
  })

  it('says of every operation what it does and who may call it', () => {
    const silent = operations.filter(
      ({ operation: { summary, description } }) =>
        !SUMMARY.test(String(summary)) || !SENTENCE.test(String(description)),
    )
    expect(silent.map(({ route }) => route)).toEqual([])
  })

  it('describes every parameter and every answer', () => {
    const parts = operations.flatMap(({ route, operation }) => [
      ...listOf(operation.parameters).map((parameter) => ({ route, ...asJson(parameter) })),
      ...Object.values(asJson(operation.responses)).map((answer) => ({ route, ...resolved(document, asJson(answer)) })),
    ])
    expect(parts.length).toBeGreaterThan(operations.length)
    expect(parts.filter((part) => !SENTENCE.test(String(asJson(part).description)))).toEqual([])
  })

  it('describes every field of requests and answers, and every branch of a union', () => {
    const parts = [
      ...operations.flatMap(({ route, operation }) => toDescribe(operation, route)),
      ...toDescribe(asJson(components.schemas), 'schemas'),
    ]
    expect(parts.length).toBeGreaterThan(operations.length)
    const silent = parts.filter(([, part]) => !SENTENCE.test(String(resolved(document, part).description)))
    expect(silent.map(([place]) => place)).toEqual([])
  })

  it('says how callers prove themselves, and shows the envelope of every refusal', () => {
    const schemes = Object.keys(asJson(components.securitySchemes))
    expect(schemes).toEqual(expect.arrayContaining(['ztSession', 'bearerToken']))
    const named = [document, ...operations.map(({ operation }) => operation)].flatMap(({ security }) =>
      listOf(security).flatMap((requirement) => Object.keys(asJson(requirement))),
    )
    expect(named.filter((name) => !schemes.includes(name))).toEqual([])
    const refusals = operations.flatMap(({ operation }) =>
      Object.entries(asJson(operation.responses))
        .filter(([status]) => Number(status) >= 400)
        .map(([, answer]) => asJson(resolved(document, asJson(answer)).content)['application/json']),
    )
    const envelopes = new Set(refusals.map((content) => asJson(asJson(content).schema).$ref))
    const [error, bare] = ['#/components/schemas/Error', '#/components/schemas/BareError']
    expect([...envelopes].sort()).toEqual([bare, error])
  })

  it('says of parameters what they are once they are read', () => {
    const parameters = operations.flatMap(({ operation }) => listOf(operation.parameters).map(asJson))
    const schemas = (wanted: string) => parameters.filter(({ name }) => name === wanted).map(({ schema }) => schema)
    for (const schema of [...schemas('limit'), ...schemas('offset')]) expect(schema).toMatchObject({ type: 'integer' })
    for (const schema of schemas('policyType')) expect(schema).toMatchObject({ type: 'string', enum: ['dial', 'bind'] })
  })

  it('carries nothing that is for its writer alone', () => {
    expect(JSON.stringify(document)).not.toContain('"x-')
  })
})
