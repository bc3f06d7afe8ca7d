import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { FreeObject, Name } from './fields.ts'

/** A kind of configuration, and the JSON schema that configs of the kind fulfil (interface: Config type). */
export const configTypes = defineResource(
  {
    name: 'config-types',
    singular: 'config type',
    storeName: 'configTypes',
    permission: 'config-type',
    writable: { name: Name, schema: FreeObject.nullable().default(null) },
    createOnly: { target: z.enum(['service', 'router', 'other']).default('service') },
    required: ['name'],
    unique: ['name'],
    symbols: { schema: 'schema' },
    operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
  },
  {
    schema:
      'The JSON schema (drafts 4, 6 and 7) that configs of the type fulfil; its root type is `object`. Null admits any object.',
    target: 'What configs of the type are for: `service` (the default), `router` or `other`. Settled at creation.',
  },
)
