import { defineResource } from '../declaration/define-resource.ts'
import { Id } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
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
export interface ServiceConfigs extends Resource<typeof DEFINITION> {}
export const serviceConfigs: ServiceConfigs = defineResource(DEFINITION, {
  identityId: 'The id of the identity that sees the config.',
  serviceId: 'The id of the service for which it sees it.',
  configId: 'The id of the config that it sees.',
  configTypeId: 'The id of the type of the config.',
})
