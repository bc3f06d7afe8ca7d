import { membersOf, POSTURE_CHECK_TYPE_IDS, type PostureCheck } from '../../domain/posture/index.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { postureChecks } from '../../resources/posture/posture-checks.ts'

/** The rule that a stored posture check stands for; nothing passes one of a type that does not exist. */
export function postureCheckOf(record: RecordOf<typeof postureChecks>): PostureCheck {
  const { id, name, typeId } = record
  if (!POSTURE_CHECK_TYPE_IDS.includes(typeId)) return impassable(id)
  const members = Object.entries(membersOf(typeId)).map(([member, { absent }]) => [
    member,
    Reflect.get(record, member) ?? absent,
  ])
  // The type names its members, and each has a value.
  return { id, name, typeId, ...Object.fromEntries(members) } as PostureCheck
}

/** The same with hashes and fingerprints in lower-case hex digits: routers compare them letter by letter. */
export function normalPostureCheckOf(record: RecordOf<typeof postureChecks>): PostureCheck {
  const check = postureCheckOf(record)
  const members = Object.entries(membersOf(check.typeId)).flatMap(([name, member]) => {
    const stored = member.stored(Reflect.get(check, name), false)
    return stored.ok ? [[name, stored.value]] : []
  })
  // Each member keeps its type.
  return { ...check, ...Object.fromEntries(members) } as PostureCheck
}

/** Every member that belongs to some type of check. */
export const TYPED_MEMBERS: readonly string[] = POSTURE_CHECK_TYPE_IDS.flatMap((typeId) =>
  Object.keys(membersOf(typeId)),
)

/** The rule that a posture check stands for that cannot be read: nothing passes it. */
export function impassable(id: string): PostureCheck {
  return { id, name: '', typeId: 'DOMAIN', domains: [] }
}
