import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Name } from './fields.ts'

/** What posture checks can look at: seeded, read-only (interface: Posture check type). */
export const postureCheckTypes = defineResource({
  name: 'posture-check-types',
  singular: 'posture check type',
  storeName: 'postureCheckTypes',
  permission: 'posture-check',
  writable: { name: Name },
  system: {
    operatingSystems: z.array(z.object({ type: z.string(), versions: z.array(z.string()).nullable() })),
  },
  derived: { version: z.int().nullable() },
  required: ['name'],
  unique: ['name'],
  operations: [],
})
