import { z } from 'zod'
import { POSTURE_CHECK_TYPE_IDS, type PostureCheckTypeId } from '../../domain/posture/checks/index.ts'
import { POSTURE_CHECK_FIELDS } from './posture-check-fields.ts'

type AnyFields = (typeof POSTURE_CHECK_FIELDS)[PostureCheckTypeId]
type Part = 'members' | 'memberWords' | 'reports' | 'reportWords'
type Merged<Union> = { readonly [K in Union extends unknown ? keyof Union : never]: ValueOf<Union, K> }
type ValueOf<Union, K> = Union extends { readonly [P in K & PropertyKey]: infer Value } ? Value : never

/** A part of the wire form, of all types together. */
export function ofAllTypes<P extends Part>(part: P): Merged<AnyFields[P]> {
  const parts = POSTURE_CHECK_TYPE_IDS.map((typeId) => POSTURE_CHECK_FIELDS[typeId][part])
  // No two types have a member in common, so that together they have all.
  return Object.assign({}, ...parts) as Merged<AnyFields[P]>
}

/** The members that filters may name. */
export const FILTERED_MEMBERS: readonly string[] = POSTURE_CHECK_TYPE_IDS.flatMap((typeId) => {
  const fields = POSTURE_CHECK_FIELDS[typeId]
  return 'filtered' in fields ? fields.filtered : []
})

type ResponseSchema = Extract<AnyFields, { readonly response: z.ZodType }>['response']

const RESPONSES: readonly ResponseSchema[] = POSTURE_CHECK_TYPE_IDS.flatMap((typeId) => {
  const fields = POSTURE_CHECK_FIELDS[typeId]
  return 'response' in fields ? [fields.response] : []
})

/** What an endpoint reports; MFA is proved by a code instead, and PROCESS answers both kinds of process check. */
// A union takes a list that it can see is not empty.
export const PostureResponse = z.discriminatedUnion(
  'typeId',
  RESPONSES as readonly [ResponseSchema, ...ResponseSchema[]],
)
