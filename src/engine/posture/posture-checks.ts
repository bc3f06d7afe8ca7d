import { invalidField } from '../../domain/errors.ts'
import {
  normaliseTimeout,
  type StoredForm,
  storedHexList,
  storedOperatingSystems,
  storedProcess,
  storedProcesses,
} from '../../domain/posture/index.ts'
import { type PostureChecks, postureChecks } from '../../resources/posture-checks.ts'
import type { RecordOf } from '../../resources/resource.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { MEMBERS_OF_TYPE, TYPED_MEMBERS, UNTYPED_DEFAULTS } from './posture-check-of.ts'

type PostureCheckRecord = RecordOf<typeof postureChecks>

/** Keeps of a posture check what belongs to its type, requires what the type needs, and stores it in its normal form. */
export const postureCheckBehaviour: Behaviour<PostureChecks> = {
  resource: postureChecks,

  async guard(_context, _tx, _call, change) {
    return change.after && normalised(change.after)
  },

  /** A posture check shows the members of its type only; its version is always 1. */
  members: async (_context, _tx, _call, records) =>
    records.map(({ typeId }) => {
      const foreign = TYPED_MEMBERS.filter((member) => !MEMBERS_OF_TYPE[typeId].includes(member))
      return { version: 1, ...Object.fromEntries(foreign.map((member) => [member, undefined])) }
    }),
}

function normalised(record: PostureCheckRecord): PostureCheckRecord {
  const members = MEMBERS_OF_TYPE[record.typeId]
  for (const member of members) {
    if (record[member as keyof PostureCheckRecord] === null) {
      throw invalidField(member, `${member} in body is required`, null)
    }
  }
  const blank = { ...record, ...UNTYPED_DEFAULTS }
  switch (record.typeId) {
    case 'OS':
      return { ...blank, operatingSystems: stored('operatingSystems', record.operatingSystems, storedOperatingSystems) }
    case 'DOMAIN':
      return { ...blank, domains: record.domains }
    case 'MAC':
      return { ...blank, macAddresses: stored('macAddresses', record.macAddresses, storedHexList) }
    case 'PROCESS': {
      const process = stored('process', record.process, storedProcess)
      return { ...blank, process: { ...process, signerFingerprint: process.signerFingerprint ?? '' } }
    }
    case 'PROCESS_MULTI': {
      const processes = stored('processes', record.processes, storedProcesses)
      return { ...blank, semantic: record.semantic, processes }
    }
    case 'MFA': {
      const { promptOnUnlock, promptOnWake, ignoreLegacyEndpoints } = record
      const timeoutSeconds = normaliseTimeout(record.timeoutSeconds)
      return { ...blank, timeoutSeconds, promptOnUnlock, promptOnWake, ignoreLegacyEndpoints }
    }
  }
}

function stored<Given, Stored>(member: string, given: Given | null, form: (given: Given) => StoredForm<Stored>) {
  if (given === null) throw invalidField(member, `${member} in body is required`, null)
  const result = form(given)
  if (result.ok) return result.value
  const separator = result.field.startsWith('[') ? '' : '.'
  throw invalidField(`${member}${separator}${result.field}`, result.reason, result.value)
}
