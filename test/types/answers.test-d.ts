// Compiled by `npm run check:types`, never run: what handlers may and may not answer.
import { z } from 'zod'
// Internals: the types of declarations, from which those of answers follow.
import { identities } from '../../src/facts/identities/identity.resource.ts'
import { services } from '../../src/facts/services/service.resource.ts'
import { defineOperation, wireSchema } from '../../src/http/operations/define-operation.ts'
import { DONE } from '../../src/http/operations/operation.ts'

const base = { summary: 'An operation', access: 'admin' } as const
const data = z.object({ name: z.string(), at: z.iso.datetime(), kind: z.enum(['a', 'b']) })
const shape = { ...base, route: 'GET /things/{id}', data } as const
const right = { name: 'thing', at: new Date(0), kind: 'a' } as const

export const RIGHT = [
  defineOperation(shape, async () => ({ data: right })),
  defineOperation({ ...shape, symbols: {} }, async () => ({ page: { items: [right], totalCount: 1 } })),
  defineOperation({ ...base, route: 'DELETE /things/{id}' }, async () => DONE),
  defineOperation({ ...base, route: 'GET /services/{id}', data: wireSchema(services) }, async (input) => ({
    data: await input.engine.reader.get(input.call, services, input.params.id),
  })),
]

export const WRONG = [
  // @ts-expect-error the name is text
  defineOperation(shape, async () => ({ data: { ...right, name: 1 } })),
  // @ts-expect-error the instant is missing
  defineOperation(shape, async () => ({ data: { name: 'thing', kind: 'a' } as const })),
  // @ts-expect-error there is no such kind
  defineOperation(shape, async () => ({ data: { ...right, kind: 'c' } as const })),
  // @ts-expect-error things have no color
  defineOperation(shape, async () => ({ data: { ...right, color: 'red' } })),
  // @ts-expect-error the things of a page have none either
  defineOperation({ ...shape, symbols: {} }, async () => ({
    page: { items: [{ ...right, color: 'red' }], totalCount: 1 },
  })),
  // @ts-expect-error one thing is no page
  defineOperation({ ...shape, symbols: {} }, async () => ({ data: right })),
  // @ts-expect-error there is data to answer
  defineOperation(shape, async () => DONE),
  // @ts-expect-error there is nothing to answer
  defineOperation({ ...base, route: 'DELETE /things/{id}' }, async () => ({ data: right })),
  // @ts-expect-error an identity is no service
  defineOperation({ ...base, route: 'GET /services/{id}', data: wireSchema(services) }, async (input) => ({
    data: await input.engine.reader.get(input.call, identities, input.params.id),
  })),
]
