import { DOMAIN } from './domain-check.ts'
import { MAC } from './mac-check.ts'
import { MFA } from './mfa-check.ts'
import { OS } from './os-check.ts'
import type { PostureCheckKind, PostureCheckMember, PostureResponseKind } from './posture-check-kind.ts'
import { PROCESS } from './process-check.ts'
import { PROCESS_MULTI } from './process-multi-check.ts'

/** Every type of posture check, by its `typeId`. */
export const POSTURE_CHECK_KINDS = { OS, PROCESS, PROCESS_MULTI, DOMAIN, MAC, MFA } as const

type Kinds = typeof POSTURE_CHECK_KINDS
type TypesOf<Kind> = Kind extends PostureCheckKind<infer Types> ? Types : never
type AllTypes = { readonly [T in keyof Kinds]: TypesOf<Kinds[T]> }
type AnyTypes = AllTypes[keyof Kinds]

/** The type of a posture check: `OS`, `DOMAIN`, `MAC`, `PROCESS`, `PROCESS_MULTI` or `MFA`. */
export type PostureCheckTypeId = keyof Kinds

/** A condition on the state of an endpoint, attached to service policies through role attributes. */
export type PostureCheck = AnyTypes['check']

/** A client's response about its endpoint. MFA has no response of its own, and PROCESS responses answer PROCESS_MULTI. */
export type PostureResponse = AnyTypes['response']

/**
 * The reports of the endpoints of one identity, as plain JSON.
 *
 * Ids and paths come from clients, so entries are lists: no text can collide with an object property.
 */
export type PostureData = Merged<AnyTypes['reports']>

/** The posture data of an identity in the management API. */
export type PostureDataView = Merged<AnyTypes['view']>

/** A posture check of a failed service request: the actual and the expected value, in their wire form. */
export type CheckFailure = {
  readonly [T in PostureCheckTypeId]: {
    readonly postureCheckId: string
    readonly postureCheckName: string
    readonly postureCheckType: T
  } & AllTypes[T]['failure']
}[PostureCheckTypeId]

/** All members of all of some types. */
type Merged<Union> = { readonly [K in Union extends unknown ? keyof Union : never]: MemberOf<Union, K> }
type MemberOf<Union, K> = Union extends { readonly [P in K & PropertyKey]: infer Value } ? Value : never

/** Any type of posture check, for code that handles all types alike. */
export interface AnyPostureTypes {
  readonly check: PostureCheck
  readonly reports: PostureData
  readonly response: PostureResponse
  readonly failure: AnyTypes['failure']
  readonly view: object
}

/** The ids of the types of posture checks. */
// Object.keys forgets which keys there are; a table is never empty.
export const POSTURE_CHECK_TYPE_IDS = Object.keys(POSTURE_CHECK_KINDS) as [PostureCheckTypeId, ...PostureCheckTypeId[]]

/** The kind of a type, for code that handles all types alike. Its functions must only get checks of that type. */
export function kindOf(typeId: PostureCheckTypeId): PostureCheckKind<AnyPostureTypes> {
  return POSTURE_CHECK_KINDS[typeId]
}

/** The members of a check that belong to its type. */
export function membersOf(typeId: PostureCheckTypeId): Readonly<Record<string, PostureCheckMember>> {
  return POSTURE_CHECK_KINDS[typeId].members
}

/** The kinds of response that endpoints can submit. */
export const RESPONSE_KINDS: readonly PostureResponseKind<AnyPostureTypes>[] = POSTURE_CHECK_TYPE_IDS.flatMap(
  (typeId) => kindOf(typeId).response ?? [],
)

/**
 * The posture data of an identity whose endpoints reported nothing yet.
 *
 * @example
 * applyResponses(emptyPostureData(), 'session-1', [{ id: 'check-1', typeId: 'DOMAIN', domain: 'corp' }], now)
 */
export function emptyPostureData(): PostureData {
  const parts = POSTURE_CHECK_TYPE_IDS.map((typeId) => kindOf(typeId).nothingReported)
  // Every type contributes its own part, and together the parts are complete.
  return Object.assign({}, ...parts) as PostureData
}
