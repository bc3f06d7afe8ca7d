import { NO_TIMEOUT, type PostureCheck } from '../../domain/posture/index.ts'
import type { postureChecks } from '../../resources/posture-checks.ts'
import type { RecordOf } from '../../resources/resource.ts'

/** The rule that a stored posture check stands for. */
export function postureCheckOf(record: RecordOf<typeof postureChecks>): PostureCheck {
  const { id, name } = record
  switch (record.typeId) {
    case 'OS':
      return { id, name, typeId: 'OS', operatingSystems: record.operatingSystems ?? [] }
    case 'DOMAIN':
      return { id, name, typeId: 'DOMAIN', domains: record.domains ?? [] }
    case 'MAC':
      return { id, name, typeId: 'MAC', macAddresses: record.macAddresses ?? [] }
    case 'PROCESS':
      return { id, name, typeId: 'PROCESS', process: record.process ?? NO_PROCESS }
    case 'PROCESS_MULTI':
      return {
        id,
        name,
        typeId: 'PROCESS_MULTI',
        semantic: record.semantic ?? 'AllOf',
        processes: record.processes ?? [],
      }
    case 'MFA': {
      const { timeoutSeconds, promptOnUnlock, promptOnWake, ignoreLegacyEndpoints } = record
      return { id, name, typeId: 'MFA', timeoutSeconds, promptOnUnlock, promptOnWake, ignoreLegacyEndpoints }
    }
  }
}

/** Stands in where a record has no process, which writing prevents; it matches nothing. */
const NO_PROCESS = { osType: 'Linux', path: '', hashes: [] } as const

/** The members that the wire shows for each type of check; the others are not part of it. */
export const MEMBERS_OF_TYPE: Readonly<Record<PostureCheck['typeId'], readonly string[]>> = {
  OS: ['operatingSystems'],
  DOMAIN: ['domains'],
  MAC: ['macAddresses'],
  PROCESS: ['process'],
  PROCESS_MULTI: ['semantic', 'processes'],
  MFA: ['timeoutSeconds', 'promptOnUnlock', 'promptOnWake', 'ignoreLegacyEndpoints'],
}

/** Every member that belongs to some type of check. */
export const TYPED_MEMBERS: readonly string[] = Object.values(MEMBERS_OF_TYPE).flat()

export const UNTYPED_DEFAULTS = {
  operatingSystems: null,
  domains: null,
  macAddresses: null,
  process: null,
  processes: null,
  semantic: null,
  timeoutSeconds: NO_TIMEOUT,
  promptOnUnlock: false,
  promptOnWake: false,
  ignoreLegacyEndpoints: false,
} as const
