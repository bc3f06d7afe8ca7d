// The forms of the explorer: for each kind of the management API, and for webhooks, the schemas by which entities are created and changed.
import { APIS } from '../src/apis/apis.ts'
import { RESOURCES } from '../src/facts/resources/index.ts'
import { jsonSchema } from '../src/http/openapi/openapi-schema.ts'

/** The forms by kind, as JSON: `permission`, `create` and `change` (schemas; absent where the API has no such operation), `isDeleted`. */
export function explorerForms(): string {
  const bodies = new Map<string, (typeof APIS.management)[number]['shape']['body']>(
    [...APIS.portcullis.filter(({ shape }) => shape.route.includes(' /webhooks')), ...APIS.management].map(
      ({ shape }) => [shape.route, shape.body],
    ),
  )
  const schemaOf = (route: string) => {
    const body = bodies.get(route)
    return body === undefined ? undefined : jsonSchema(body)
  }
  const forms = RESOURCES.flatMap(({ name, definition: { permission } }) => {
    if (!bodies.has(`GET /${name}`)) return []
    const form = {
      permission,
      create: schemaOf(`POST /${name}`),
      change: schemaOf(`PATCH /${name}/{id}`),
      isDeleted: bodies.has(`DELETE /${name}/{id}`),
    }
    return [[name, form] as const]
  })
  return JSON.stringify(Object.fromEntries(forms))
}
