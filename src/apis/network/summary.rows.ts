import { z } from 'zod'
import { postureCheckTypes } from '../../facts/access/posture/posture-check.resource.ts'
import { identityTypes } from '../../facts/authority/permissions.resource.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'

export const summary = defineOperation(
  {
    route: 'GET /summary',
    summary: 'Counts the entities of each kind',
    access: 'admin',
    data: z.record(z.string(), z.int()),
  },
  async ({ engine }) => ({ data: await engine.reader.counts() }),
)

/** The seeded types of identities, which every authenticated session may read. */
export const identityTypeOperations = [
  defineOperation(
    {
      route: 'GET /identity-types',
      summary: 'Lists identity types',
      access: 'authenticated',
      data: wireSchema(identityTypes),
      symbols: identityTypes.symbols,
    },
    async ({ engine, call, find }) => ({ page: await engine.reader.list(call, identityTypes, find) }),
  ),
  defineOperation(
    {
      route: 'GET /identity-types/{id}',
      summary: 'Shows one identity type',
      access: 'authenticated',
      data: wireSchema(identityTypes),
    },
    async ({ engine, call, params }) => ({ data: await engine.reader.get(call, identityTypes, params.id) }),
  ),
] as const

/** The seeded types of posture checks, which every authenticated session may read. */
export const postureCheckTypeOperations = [
  defineOperation(
    {
      route: 'GET /posture-check-types',
      summary: 'Lists posture check types',
      access: 'authenticated',
      data: wireSchema(postureCheckTypes),
      symbols: postureCheckTypes.symbols,
    },
    async ({ engine, call, find }) => ({ page: await engine.reader.list(call, postureCheckTypes, find) }),
  ),
  defineOperation(
    {
      route: 'GET /posture-check-types/{id}',
      summary: 'Shows one posture check type',
      access: 'authenticated',
      data: wireSchema(postureCheckTypes),
    },
    async ({ engine, call, params }) => ({ data: await engine.reader.get(call, postureCheckTypes, params.id) }),
  ),
] as const
