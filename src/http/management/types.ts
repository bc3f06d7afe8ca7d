import { identityTypes } from '../../resources/identity-types.ts'
import { postureCheckTypes } from '../../resources/posture-check-types.ts'
import type { Resource } from '../../resources/resource.ts'
import { defineOperation, type Operation } from '../operations/operation.ts'

/** Seeded types, which every authenticated session may read. */
export const typeOperations: readonly Operation[] = [...readable(identityTypes), ...readable(postureCheckTypes)]

function readable<R extends Resource>(resource: R): readonly Operation[] {
  const { name, singular } = resource.definition
  return [
    defineOperation(
      {
        route: `GET /${name}`,
        summary: `Lists ${name.replaceAll('-', ' ')}`,
        access: 'authenticated',
        data: resource.detail,
        symbols: resource.symbols,
      },
      async ({ engine, call, find }) => ({ page: await engine.reader.list(call, resource, find) }),
    ),
    defineOperation(
      { route: `GET /${name}/{id}`, summary: `Shows one ${singular}`, access: 'authenticated', data: resource.detail },
      async ({ engine, call, params }) => ({
        data: await engine.reader.get(call, resource, String(Reflect.get(params, 'id'))),
      }),
    ),
  ]
}
