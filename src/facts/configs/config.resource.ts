import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { FreeObject, Id, Name } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'

const DEFINITION = {
  name: 'configs',
  singular: 'config',
  storeName: 'configs',
  permission: 'config',
  writable: { name: Name, data: FreeObject },
  createOnly: { configTypeId: Id },
  required: ['name', 'data', 'configTypeId'],
  quirks: { requiredOnReplace: ['name', 'data'] },
  unique: ['name'],
  indexed: ['configTypeId'],
  references: { configTypeId: { to: 'config-types', onDelete: 'restrict', show: 'configType' } },
  symbols: { type: 'configTypeId', data: 'data' },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** Settings for services or routers, which match the schema of their config type. */
export interface Configs extends Resource<typeof DEFINITION> {}
export const configs: Configs = defineResource(DEFINITION, {
  data: 'The settings: an object that fulfils the schema of the config type.',
  configTypeId: 'The id of the config type. Settled at creation.',
})

const TYPE_DEFINITION = {
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
export interface ConfigTypes extends Resource<typeof TYPE_DEFINITION> {}
export const configTypes: ConfigTypes = defineResource(TYPE_DEFINITION, {
  schema:
    'The JSON schema (drafts 4, 6 and 7) that configs of the type fulfil; its root type is `object`. Null admits any object.',
  target:
    'The kind of entity that configs of the type are for: `service` (the default), `router` or `other`. Settled at creation.',
})

const SERVICE_CONFIG_DEFINITION = {
  name: 'service-configs',
  singular: 'service config',
  storeName: 'serviceConfigs',
  permission: 'identity',
  writable: {},
  system: { identityId: Id, serviceId: Id, configId: Id, configTypeId: Id },
  required: [],
  indexed: ['identityId', 'serviceId', 'configId'],
  references: {
    identityId: { to: 'identities', onDelete: 'cascade' },
    serviceId: { to: 'services', onDelete: 'cascade', show: 'service' },
    configId: { to: 'configs', onDelete: 'restrict', show: 'config' },
  },
  operations: [],
} as const satisfies ResourceDefinition

/**
 * The config that one identity sees for a service instead of the service's own config of the type. There is at most one
 * per identity, service and config type.
 */
export interface ServiceConfigs extends Resource<typeof SERVICE_CONFIG_DEFINITION> {}
export const serviceConfigs: ServiceConfigs = defineResource(SERVICE_CONFIG_DEFINITION, {
  identityId: 'The id of the identity that sees the config.',
  serviceId: 'The id of the service for which it sees it.',
  configId: 'The id of the config that it sees.',
  configTypeId: 'The id of the type of the config.',
})

/** Services, and the configs that an identity sees for them. */
export const ServiceConfigPairs = z.array(
  described(z.object({ serviceId: Id, configId: Id }), {
    serviceId: 'The id of the service.',
    configId: 'The id of the config.',
  }),
)
