import { z } from 'zod'
import { meaningOf } from '../../resources/declaration/words.ts'
import { ListQuery } from '../operations/list-query.ts'
import type { OperationShape } from '../operations/operation.ts'
import { RoleFilterQuery } from '../operations/role-filter.ts'
import { type JsonObject, jsonSchema } from './json-schema.ts'
import { parameterText } from './parameter-texts.ts'

/** The parameters of an operation: in its path, in the query, and the headers that it reads. */
export function parametersOf(shape: OperationShape): readonly JsonObject[] {
  const inPath = [...shape.route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    description: parameterText(shape.route, name),
    required: true,
    schema: { type: 'string' },
  }))
  const queries = [shape.query, shape.symbols && ListQuery, shape.byRole ? RoleFilterQuery : undefined].filter(
    (query) => query !== undefined,
  )
  const inQuery = queries.flatMap((query) =>
    Object.entries(query.shape).map(([name, schema]) => ({
      name,
      in: 'query',
      description: meaningOf(query)?.members[name] ?? parameterText(shape.route, name),
      required: !z.safeParse(schema, undefined).success,
      schema: jsonSchema(schema),
    })),
  )
  const inHeader = (shape.headers ?? []).map((name) => ({
    name,
    in: 'header',
    description: parameterText(shape.route, name),
    schema: { type: 'string' },
  }))
  return [...inPath, ...inQuery, ...inHeader]
}
