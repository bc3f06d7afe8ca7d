import type { postureCheckTypes } from '../../../resources/posture-check-types.ts'
import type { DeriveMembers } from './render.ts'

/** Types have one version so far, as posture checks have (interface: Posture check type). */
export const postureCheckTypeMembers: DeriveMembers<typeof postureCheckTypes> = async (_context, _tx, _call, records) =>
  records.map(() => ({ version: '1' }))
