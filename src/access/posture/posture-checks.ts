import type { Profile } from '../../base/compatibility.ts'
import { invalidField } from '../../base/errors.ts'
import {
  type PostureChecks,
  type PostureCheckTypes,
  postureChecks,
  postureCheckTypes,
} from '../../facts/access/posture/posture-check.resource.ts'
import {
  membersOf,
  POSTURE_CHECK_TYPE_IDS,
  type PostureCheck,
  type PostureCheckMember,
} from '../../facts/access/posture/rules/index.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import type { Behaviour } from '../../records/behaviour.ts'

/** The rule of a stored posture check; a check of an unknown type lets no endpoint pass. */
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
const TYPED_MEMBERS: readonly string[] = POSTURE_CHECK_TYPE_IDS.flatMap((typeId) => Object.keys(membersOf(typeId)))

/** The rule of an unreadable posture check: it lets no endpoint pass. */
export function impassable(id: string): PostureCheck {
  return { id, name: '', typeId: 'DOMAIN', domains: [] }
}

type PostureCheckRecord = RecordOf<typeof postureChecks>

/**
 * Keeps the members of a posture check that belong to its type, requires the members that the type needs, and stores
 * the check in its normal form.
 */
export const postureCheckBehaviour: Behaviour<PostureChecks> = {
  resource: postureChecks,

  async guard({ settings }, _tx, _call, change) {
    return change.after && normalised(change.after, settings.profile)
  },

  /** A posture check shows the members of its type only; its version is always 1. */
  members: async ({ settings }, _tx, _call, records) =>
    records.map((record) => {
      const { typeId } = record
      // A damaged check may have an unknown type.
      const own = POSTURE_CHECK_TYPE_IDS.includes(typeId) ? membersOf(typeId) : {}
      const foreign = TYPED_MEMBERS.filter((member) => !Object.hasOwn(own, member))
      return {
        version: 1,
        ...Object.fromEntries(foreign.map((member) => [member, undefined])),
        ...(settings.profile.showsEmptyAsDeployed ? innerListsAsNull(record) : {}),
      }
    }),
}

/** Members of other types go back to their defaults. */
const NO_MEMBERS = Object.fromEntries(TYPED_MEMBERS.map((member) => [member, postureChecks.defaults?.[member]]))

/** The lists inside of members that deployed controllers show as null while they are empty. */
function innerListsAsNull({ operatingSystems, process }: PostureCheckRecord) {
  return {
    ...(operatingSystems && { operatingSystems: withNullVersions(operatingSystems) }),
    ...(process && { process: { ...process, hashes: nullIfEmpty(process.hashes) } }),
  }
}

/** Operating systems as deployed controllers show them: an empty list of versions is null. */
function withNullVersions(systems: readonly { readonly type: string; readonly versions: readonly string[] }[]) {
  return systems.map(({ type, versions }) => ({ type, versions: nullIfEmpty(versions) }))
}

function nullIfEmpty(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list
}

function normalised(record: PostureCheckRecord, profile: Profile): PostureCheckRecord {
  const own = Object.entries(membersOf(record.typeId)).map(([name, member]) => [
    name,
    storedMember(name, member, Reflect.get(record, name), profile),
  ])
  return { ...record, ...NO_MEMBERS, ...Object.fromEntries(own) }
}

function storedMember(name: string, member: PostureCheckMember, given: unknown, profile: Profile): unknown {
  if (given === null) throw invalidField(name, `${name} in body is required`, null)
  const result = member.stored(given, profile.keepsHexAsWritten)
  if (result.ok) return result.value
  const separator = result.field.startsWith('[') ? '' : '.'
  throw invalidField(`${name}${separator}${result.field}`, result.reason, result.value)
}

/** Types have one version so far, as posture checks have. */
export const postureCheckTypeBehaviour: Behaviour<PostureCheckTypes> = {
  resource: postureCheckTypes,
  members: async ({ settings }, _tx, _call, records) =>
    records.map(({ operatingSystems }) => ({
      version: '1',
      ...(settings.profile.showsEmptyAsDeployed && { operatingSystems: withNullVersions(operatingSystems) }),
    })),
}
