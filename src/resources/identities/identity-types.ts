import { defineResource } from '../declaration/define-resource.ts'
import { Name } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
  name: 'identity-types',
  singular: 'identity type',
  storeName: 'identityTypes',
  permission: 'identity',
  writable: { name: Name },
  required: ['name'],
  unique: ['name'],
  operations: [],
} as const satisfies ResourceDefinition

/** What an identity stands for: seeded, read-only. */
export interface IdentityTypes extends Resource<typeof DEFINITION> {}
export const identityTypes: IdentityTypes = defineResource(DEFINITION, {})
