import { z } from 'zod'
import { POSTURE_CHECK_TYPE_IDS } from '../../domain/posture/index.ts'
import { defineResource } from '../declaration/define-resource.ts'
import { Name, RoleAttributes } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'
import { FILTERED_MEMBERS, ofAllTypes } from './posture-check-schemas.ts'
import { postureCheckSpellings } from './posture-check-spellings.ts'

const MEMBERS = ofAllTypes('members')
// Object.keys forgets which keys there are.
const MEMBER_NAMES = Object.keys(MEMBERS) as readonly (keyof typeof MEMBERS)[]

const DEFINITION = {
  name: 'posture-checks',
  singular: 'posture check',
  storeName: 'postureChecks',
  permission: 'posture-check',
  writable: { name: Name, roleAttributes: RoleAttributes.default([]), ...MEMBERS },
  createOnly: { typeId: z.enum(POSTURE_CHECK_TYPE_IDS) },
  derived: { version: z.int() },
  mayBeAbsent: MEMBER_NAMES,
  required: ['name', 'typeId'],
  requiredOnReplace: ['name'],
  requiredOnPatch: ['typeId'],
  unique: ['name'],
  symbols: Object.fromEntries(
    MEMBER_NAMES.filter((name) => !FILTERED_MEMBERS.includes(name)).map((name) => [name, null]),
  ),
  spellings: postureCheckSpellings,
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** A rule on the state of an endpoint; service policies select checks by their role attributes. */
export interface PostureChecks extends Resource<typeof DEFINITION> {}
export const postureChecks: PostureChecks = defineResource(DEFINITION, {
  ...ofAllTypes('memberWords'),
  typeId: 'What the check looks at. Settled at creation.',
  version: 'Always 1.',
})
