import { type PostureCheckTypes, postureCheckTypes } from '../../resources/posture/posture-check-types.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { withNullVersions } from './posture-checks.ts'

/** Types have one version so far, as posture checks have. */
export const postureCheckTypeBehaviour: Behaviour<PostureCheckTypes> = {
  resource: postureCheckTypes,
  members: async ({ settings }, _tx, _call, records) =>
    records.map(({ operatingSystems }) => ({
      version: '1',
      ...(settings.profile.showsEmptyAsDeployed && { operatingSystems: withNullVersions(operatingSystems) }),
    })),
}
