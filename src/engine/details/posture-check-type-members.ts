import type { postureCheckTypes } from '../../resources/posture-check-types.ts'
import type { DeriveMembers } from './render.ts'

/** Deployed clients have never seen a version here. */
export const postureCheckTypeMembers: DeriveMembers<typeof postureCheckTypes> = async (_context, _tx, _call, records) =>
  records.map(() => ({ version: null }))
