import { kindOf, POSTURE_CHECK_TYPE_IDS, type PostureData, type PostureDataView } from './checks/index.ts'

/** Shows the posture data of an identity: what was never reported is null. */
export function postureDataView(data: PostureData): PostureDataView {
  const parts = POSTURE_CHECK_TYPE_IDS.map((typeId) => kindOf(typeId).view(data))
  // Every type shows its own part, so that together they are the whole.
  return Object.assign({}, ...parts) as PostureDataView
}
