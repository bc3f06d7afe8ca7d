import { explainMfa, type MfaFailure } from './mfa-failure.ts'
import type {
  CheckedMultiProcess,
  CheckedProcess,
  OperatingSystem,
  PostureCheck,
  ProcessSemantic,
} from './posture-check.ts'
import type { PostureData, ReportedProcess } from './posture-data.ts'
import { processAtPath, processReport } from './process-check.ts'

/** A process as an endpoint reported it. */
export interface ProcessValue {
  readonly hash: string
  readonly isRunning: boolean
  readonly signerFingerprints: readonly string[] | null
}

/** The value that a check looked at, beside the values that would have passed. */
interface Values<TypeId extends PostureCheck['typeId'], Actual, Expected> {
  readonly postureCheckType: TypeId
  readonly actualValue: Actual
  readonly expectedValue: Expected
}

type ProcessMultiFailure = Values<
  'PROCESS_MULTI',
  readonly (ProcessValue & { readonly path: string })[],
  readonly CheckedMultiProcess[]
> & { readonly semantic: ProcessSemantic }

/** A posture check of a failed service request: what was found and what was expected, as the wire has them. */
export type CheckFailure = { readonly postureCheckId: string; readonly postureCheckName: string } & (
  | Values<'OS', { readonly type: string; readonly version: string }, readonly OperatingSystem[]>
  | Values<'DOMAIN', string, readonly string[]>
  | Values<'MAC', readonly string[], readonly string[]>
  | Values<'PROCESS', ProcessValue, CheckedProcess>
  | ProcessMultiFailure
  | MfaFailure
)

/**
 * What a posture check found and expected for an API session at `now` (epoch ms), for the record of a failed service
 * request. Values that were never reported are empty.
 */
export function explainFailure(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): CheckFailure {
  const name = { postureCheckId: check.id, postureCheckName: check.name }
  switch (check.typeId) {
    case 'OS': {
      const actualValue = { type: data.os?.type ?? '', version: data.os?.version ?? '' }
      return { ...name, postureCheckType: 'OS', actualValue, expectedValue: check.operatingSystems }
    }
    case 'DOMAIN': {
      const actualValue = data.domain?.domain ?? ''
      return { ...name, postureCheckType: 'DOMAIN', actualValue, expectedValue: check.domains }
    }
    case 'MAC': {
      const actualValue = data.mac?.addresses ?? []
      return { ...name, postureCheckType: 'MAC', actualValue, expectedValue: check.macAddresses }
    }
    case 'PROCESS': {
      const actualValue = processValue(processReport(check, data))
      return { ...name, postureCheckType: 'PROCESS', actualValue, expectedValue: expectedProcess(check.process) }
    }
    case 'PROCESS_MULTI': {
      const { semantic, processes } = check
      const actualValue = reportedProcesses(processes, data)
      return { ...name, postureCheckType: 'PROCESS_MULTI', semantic, actualValue, expectedValue: processes }
    }
    case 'MFA':
      return { ...name, ...explainMfa(check, data, apiSessionId, now) }
  }
}

function reportedProcesses(processes: readonly CheckedMultiProcess[], data: PostureData) {
  return processes
    .map((process) => processAtPath(process.path, data))
    .filter((report) => report !== undefined)
    .map((report) => ({ ...processValue(report), path: report.path }))
}

function processValue(report: ReportedProcess | undefined): ProcessValue {
  if (report === undefined) return { hash: '', isRunning: false, signerFingerprints: null }
  return { hash: report.hash, isRunning: report.isRunning, signerFingerprints: report.signerFingerprints }
}

/** A signer that is not asked for is left out, as deployed controllers do. */
function expectedProcess({ osType, path, hashes, signerFingerprint = '' }: CheckedProcess): CheckedProcess {
  return { osType, path, hashes, ...(signerFingerprint === '' ? {} : { signerFingerprint }) }
}
