import { defineResource } from '../declaration/define-resource.ts'
import { FreeObject, Id, Name } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
  name: 'configs',
  singular: 'config',
  storeName: 'configs',
  permission: 'config',
  writable: { name: Name, data: FreeObject },
  createOnly: { configTypeId: Id },
  required: ['name', 'data', 'configTypeId'],
  requiredOnReplace: ['name', 'data'],
  unique: ['name'],
  indexed: ['configTypeId'],
  references: { configTypeId: { to: 'config-types', onDelete: 'restrict', show: 'configType' } },
  symbols: { type: 'configTypeId', data: 'data' },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** Settings for services or routers, of the shape that their config type demands. */
export interface Configs extends Resource<typeof DEFINITION> {}
export const configs: Configs = defineResource(DEFINITION, {
  data: 'The settings: an object that fulfils the schema of the config type.',
  configTypeId: 'The id of the config type. Settled at creation.',
})
