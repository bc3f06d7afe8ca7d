import { defineResource } from './define-resource.ts'
import { Name } from './fields.ts'

/** What an identity stands for: seeded, read-only (interface: Identity type). */
export const identityTypes = defineResource(
  {
    name: 'identity-types',
    singular: 'identity type',
    storeName: 'identityTypes',
    permission: 'identity',
    writable: { name: Name },
    required: ['name'],
    unique: ['name'],
    operations: [],
  },
  {},
)
