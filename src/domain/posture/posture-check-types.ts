import { kindOf, POSTURE_CHECK_TYPE_IDS } from './checks/index.ts'
import type { ListedPostureCheckType } from './kind/posture-check-kind.ts'

/** A type of posture check, with the operating systems that it applies to. */
export interface PostureCheckType extends ListedPostureCheckType {
  readonly id: string
}

/** The types that deployed controllers list; MFA checks work without being listed. */
export const POSTURE_CHECK_TYPES: readonly PostureCheckType[] = POSTURE_CHECK_TYPE_IDS.flatMap((id) => {
  const { listed } = kindOf(id)
  return listed === undefined ? [] : [{ id, ...listed }]
})
