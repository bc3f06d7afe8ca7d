import { z } from 'zod'
import { defineResource } from '../declaration/define-resource.ts'
import { Name } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'
import { described } from '../declaration/words.ts'

const DEFINITION = {
  name: 'posture-check-types',
  singular: 'posture check type',
  storeName: 'postureCheckTypes',
  permission: 'posture-check',
  writable: { name: Name },
  system: {
    operatingSystems: z.array(
      described(z.object({ type: z.string(), versions: z.array(z.string()) }), {
        type: 'The operating system.',
        versions: 'Versions of it that a user interface may offer.',
      }),
    ),
  },
  derived: { version: z.string() },
  required: ['name'],
  unique: ['name'],
  operations: [],
} as const satisfies ResourceDefinition

/** What posture checks can look at: seeded, read-only. */
export interface PostureCheckTypes extends Resource<typeof DEFINITION> {}
export const postureCheckTypes: PostureCheckTypes = defineResource(DEFINITION, {
  operatingSystems: 'The operating systems on which checks of the type can be made.',
  version: 'The version of the type: always `1`.',
})
