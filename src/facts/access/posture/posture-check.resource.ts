import { z } from 'zod'
import { defineResource } from '../../../kernel/declaration/define-resource.ts'
import { Name, RoleAttributes } from '../../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../../kernel/declaration/resource.ts'
import { described } from '../../../kernel/declaration/words.ts'
import { POSTURE_CHECK_TYPE_IDS, type PostureCheckTypeId } from './checks/index.ts'
import { POSTURE_CHECK_FIELDS } from './posture-check-fields.resource.ts'
import { membersOf, POSTURE_CHECK_KINDS, type PostureCheckMember } from './rules/index.ts'

type AnyFields = (typeof POSTURE_CHECK_FIELDS)[PostureCheckTypeId]
type Part = 'members' | 'memberWords' | 'reports' | 'reportWords'
type Merged<Union> = { readonly [K in Union extends unknown ? keyof Union : never]: ValueOf<Union, K> }
type ValueOf<Union, K> = Union extends { readonly [P in K & PropertyKey]: infer Value } ? Value : never

/** A part of the wire form, merged over all types. */
export function ofAllTypes<P extends Part>(part: P): Merged<AnyFields[P]> {
  const parts = POSTURE_CHECK_TYPE_IDS.map((typeId) => POSTURE_CHECK_FIELDS[typeId][part])
  // No two types share a member, so the merged parts are complete.
  return Object.assign({}, ...parts) as Merged<AnyFields[P]>
}

/** The members that filters may name. */
const FILTERED_MEMBERS: readonly string[] = POSTURE_CHECK_TYPE_IDS.flatMap((typeId) => {
  const fields = POSTURE_CHECK_FIELDS[typeId]
  return 'filtered' in fields ? fields.filtered : []
})

type ResponseSchema = Extract<AnyFields, { readonly response: z.ZodType }>['response']

const RESPONSES: readonly ResponseSchema[] = POSTURE_CHECK_TYPE_IDS.flatMap((typeId) => {
  const fields = POSTURE_CHECK_FIELDS[typeId]
  return 'response' in fields ? [fields.response] : []
})

/** A report of an endpoint; MFA is proved by a code instead, and PROCESS answers both kinds of process check. */
// The type of a union demands a list that is known not to be empty.
export const PostureResponse = z.discriminatedUnion(
  'typeId',
  RESPONSES as readonly [ResponseSchema, ...ResponseSchema[]],
)

const MEMBERS = ofAllTypes('members')
// `Object.keys` loses the type of the keys.
const MEMBER_NAMES = Object.keys(MEMBERS) as readonly (keyof typeof MEMBERS)[]

const DEFINITION = {
  name: 'posture-checks',
  singular: 'posture check',
  storeName: 'postureChecks',
  permission: 'posture-check',
  writable: { name: Name, roleAttributes: RoleAttributes.default([]), ...MEMBERS },
  createOnly: { typeId: z.enum(POSTURE_CHECK_TYPE_IDS) },
  derived: { version: z.int() },
  required: ['name', 'typeId'],
  unique: ['name'],
  symbols: Object.fromEntries(
    MEMBER_NAMES.filter((name) => !FILTERED_MEMBERS.includes(name)).map((name) => [name, null]),
  ),
  quirks: {
    mayBeAbsent: MEMBER_NAMES,
    requiredOnReplace: ['name'],
    requiredOnPatch: ['typeId'],
    spellings: postureCheckSpellings,
  },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** A rule on the state of an endpoint; service policies select checks by their role attributes. */
export interface PostureChecks extends Resource<typeof DEFINITION> {}
export const postureChecks: PostureChecks = defineResource(DEFINITION, {
  ...ofAllTypes('memberWords'),
  typeId: 'The kind of fact that the check looks at. Settled at creation.',
  version: 'Always 1.',
})

type Body = Readonly<Record<string, unknown>>

/** The members of all types of checks. */
const ALL_MEMBERS: Readonly<Record<string, PostureCheckMember>> = Object.assign(
  {},
  ...POSTURE_CHECK_TYPE_IDS.map(membersOf),
)

/** The types by their ids and alternative documented names, such as `postureCheckDomainCreate`. */
const TYPE_IDS: ReadonlyMap<unknown, PostureCheckTypeId> = new Map(
  POSTURE_CHECK_TYPE_IDS.flatMap((typeId) => {
    const { schemaName } = POSTURE_CHECK_KINDS[typeId]
    const names = ['Create', 'Update', 'Patch'].map((operation) => `postureCheck${schemaName}${operation}`)
    return [typeId, ...names].map((name) => [name, typeId] as const)
  }),
)

/**
 * Corrects alternative documented spellings of a posture check: `attributes` for `roleAttributes`, schema names such as
 * `postureCheckDomainCreate` for `DOMAIN`, and the spellings of each type's members.
 *
 * Members of other types are dropped before validation: the deployed admin console sends the members of every type, empty when its form was
 * not filled in. A replacement may leave out the type; all members are then kept.
 */
function postureCheckSpellings(body: Body): Body {
  const { attributes, ...rest } = body
  const typeId = TYPE_IDS.get(body.typeId)
  const own = body.typeId === undefined ? ALL_MEMBERS : typeId === undefined ? {} : membersOf(typeId)
  const members = Object.entries(rest).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    if (!Object.hasOwn(ALL_MEMBERS, name)) return [[name, value]]
    const member = own[name]
    return member === undefined ? [] : [[name, member.spelled === undefined ? value : member.spelled(value)]]
  })
  return {
    ...Object.fromEntries(members),
    ...(attributes !== undefined && (rest.roleAttributes ?? null) === null ? { roleAttributes: attributes } : {}),
    ...(typeId === undefined ? {} : { typeId }),
  }
}

const TYPE_DEFINITION = {
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

/** The types of posture check: seeded, read-only. */
export interface PostureCheckTypes extends Resource<typeof TYPE_DEFINITION> {}
export const postureCheckTypes: PostureCheckTypes = defineResource(TYPE_DEFINITION, {
  operatingSystems: 'The operating systems on which checks of the type can be made.',
  version: 'The version of the type: always `1`.',
})
