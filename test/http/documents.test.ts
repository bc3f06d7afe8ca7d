import { apiDocuments } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { asJson } from './generated-requests.ts'

const SENTENCE = /^[A-Z][^\n]{5,}$/

const TABLE = Object.entries(apiDocuments('v0')).map(([api, document]) => [api, operationsOf(document)] as const)

function operationsOf(document: Readonly<Record<string, unknown>>) {
  return Object.entries(asJson(document.paths)).flatMap(([path, methods]) =>
    Object.entries(asJson(methods)).map(([method, operation]) => ({
      route: `${method} ${path}`,
      ...asJson(operation),
    })),
  )
}

describe.each(TABLE)('the document of the %s API', (_api, operations: readonly Readonly<Record<string, unknown>>[]) => {
  it('has operations, each with an id of its own', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids.length).toBeGreaterThan(0)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z]\w+$/.test(String(id)))).toEqual([])
  })

  it('says of every operation what it does and who may call it', () => {
    const silent = operations.filter(
      ({ summary, description }) => !SENTENCE.test(String(summary)) || !SENTENCE.test(String(description)),
    )
    expect(silent.map(({ route }) => route)).toEqual([])
  })

  it('describes every parameter', () => {
    const parameters = operations.flatMap(({ route, parameters: all }) =>
      (Array.isArray(all) ? all : []).map((parameter) => ({ route, ...asJson(parameter) })),
    )
    const silent = parameters.filter((parameter) => !SENTENCE.test(String(asJson(parameter).description)))
    expect(silent).toEqual([])
  })
})
