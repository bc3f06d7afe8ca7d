import { expect } from 'vitest'
import { asJson } from '../support/generated-requests.ts'

type Json = Readonly<Record<string, unknown>>

/** An answer of an operation is one that its document describes: the status, and for a refusal the code. */
export function expectDocumented(document: Json, operation: Json, status: number, body: string, told: string): void {
  const described = resolved(document, asJson(operation.responses)[status])
  if (described.description === undefined) expect.fail(`the status is not described: ${told}`)
  if (status < 400) return
  const refusal = asJson(JSON.parse(body))
  const { code } = asJson(refusal.error ?? refusal)
  expect(described.description, told).toContain(`\`${String(code)}\``)
}

function resolved(document: Json, part: unknown): Json {
  const { $ref } = asJson(part)
  if (typeof $ref !== 'string') return asJson(part)
  return $ref
    .split('/')
    .slice(1)
    .reduce<Json>((found, name) => asJson(found[name]), document)
}
