import { type PostureCheckTypes, postureCheckTypes } from '../../resources/posture/posture-check-types.ts'
import type { Behaviour } from '../records/behaviour.ts'

/** Types have one version so far, as posture checks have. */
export const postureCheckTypeBehaviour: Behaviour<PostureCheckTypes> = {
  resource: postureCheckTypes,
  members: async (_context, _tx, _call, records) => records.map(() => ({ version: '1' })),
}
