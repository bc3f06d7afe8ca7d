import { z } from 'zod'
import { defineResource } from '../declaration/define-resource.ts'
import { FreeObject, Name } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
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
} as const satisfies ResourceDefinition

/** A kind of configuration, and the JSON schema that configs of the kind fulfil. */
export interface ConfigTypes extends Resource<typeof DEFINITION> {}
export const configTypes: ConfigTypes = defineResource(DEFINITION, {
  schema:
    'The JSON schema (drafts 4, 6 and 7) that configs of the type fulfil; its root type is `object`. Null admits any object.',
  target: 'What configs of the type are for: `service` (the default), `router` or `other`. Settled at creation.',
})
