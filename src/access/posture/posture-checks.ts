import type { Profile } from '../../domain/compatibility.ts'
import { invalidField } from '../../domain/errors.ts'
import { membersOf, POSTURE_CHECK_TYPE_IDS, type PostureCheckMember } from '../../domain/posture/index.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { type PostureChecks, postureChecks } from '../../resources/posture/posture-checks.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { TYPED_MEMBERS } from './posture-check-of.ts'

type PostureCheckRecord = RecordOf<typeof postureChecks>

/** Keeps of a posture check what belongs to its type, requires what the type needs, and stores it in its normal form. */
export const postureCheckBehaviour: Behaviour<PostureChecks> = {
  resource: postureChecks,

  async guard({ settings }, _tx, _call, change) {
    return change.after && normalised(change.after, settings.profile)
  },

  /** A posture check shows the members of its type only; its version is always 1. */
  members: async ({ settings }, _tx, _call, records) =>
    records.map((record) => {
      const { typeId } = record
      // The type of a damaged check may be none.
      const own = POSTURE_CHECK_TYPE_IDS.includes(typeId) ? membersOf(typeId) : {}
      const foreign = TYPED_MEMBERS.filter((member) => !Object.hasOwn(own, member))
      return {
        version: 1,
        ...Object.fromEntries(foreign.map((member) => [member, undefined])),
        ...(settings.profile.showsEmptyAsDeployed ? innerListsAsNull(record) : {}),
      }
    }),
}

/** Members of other types go back to what they are where nobody sets them. */
const NO_MEMBERS = Object.fromEntries(TYPED_MEMBERS.map((member) => [member, postureChecks.defaults?.[member]]))

/** The lists inside of members that deployed controllers show as null while they are empty. */
function innerListsAsNull({ operatingSystems, process }: PostureCheckRecord) {
  return {
    ...(operatingSystems && {
      operatingSystems: withNullVersions(operatingSystems),
    }),
    ...(process && { process: { ...process, hashes: nullIfEmpty(process.hashes) } }),
  }
}

/** Operating systems as deployed controllers show them: without versions where there are none. */
export function withNullVersions(systems: readonly { readonly type: string; readonly versions: readonly string[] }[]) {
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
