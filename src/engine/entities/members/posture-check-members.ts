import type { postureChecks } from '../../../resources/posture-checks.ts'
import { MEMBERS_OF_TYPE, TYPED_MEMBERS } from '../../posture/posture-check-of.ts'
import type { DeriveMembers } from './render.ts'

/** A posture check shows the members of its type only; its version is always 1 (interface: Posture check). */
export const postureCheckMembers: DeriveMembers<typeof postureChecks> = async (_context, _tx, _call, records) =>
  records.map(({ typeId }) => {
    const foreign = TYPED_MEMBERS.filter((member) => !MEMBERS_OF_TYPE[typeId].includes(member))
    return { version: 1, ...Object.fromEntries(foreign.map((member) => [member, undefined])) }
  })
