import { identityTypes } from '../../../resources/identities/identity-types.ts'
import { postureCheckTypes } from '../../../resources/posture/posture-check-types.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { wireSchema } from '../../operations/wire-schema.ts'

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
