import {
  type CheckedMultiProcess,
  evaluateCheck,
  includesAnyHex,
  isTimeoutElapsed,
  type MfaCheck,
  type PostureCheck,
  type PostureData,
  processAtPath,
  processReport,
  type ReportedProcess,
  sessionPosture,
} from '../posture/index.ts'

/** What a posture check misses; `path` names the process, where it is about one. */
export interface MissingPosture {
  readonly kind: MissingKind
  readonly path?: string
}

/** What a posture check may miss. */
export const MISSING_KINDS = [
  /** The endpoint never reported what the check asks for. */
  'not-reported',
  /** The endpoint reported a value that the check does not admit. */
  'value-not-admitted',
  /** The process is not running. */
  'process-not-running',
  /** The process runs from a binary with another hash. */
  'process-hash-not-admitted',
  /** The process runs from a binary with another signer. */
  'process-signer-not-admitted',
  /** The API session never passed MFA. */
  'mfa-not-passed',
  /** The MFA pass of the API session timed out. */
  'mfa-timed-out',
  /** The endpoint was unlocked or woken, and no new code came within the grace period. */
  'mfa-prompt-unanswered',
] as const
export type MissingKind = (typeof MISSING_KINDS)[number]

/** What keeps a check from passing for an API session at `now` (epoch ms); empty when it passes. */
export function missingPosture(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): readonly MissingPosture[] {
  if (evaluateCheck(check, data, apiSessionId, now)) return []
  switch (check.typeId) {
    case 'OS':
      return [reportedOrNot(data.os)]
    case 'DOMAIN':
      return [reportedOrNot(data.domain)]
    case 'MAC':
      return [reportedOrNot(data.mac)]
    case 'PROCESS': {
      const { path, hashes, signerFingerprint = '' } = check.process
      const signerFingerprints = signerFingerprint === '' ? [] : [signerFingerprint]
      return missingOfProcess({ path, hashes, signerFingerprints }, processReport(check, data))
    }
    case 'PROCESS_MULTI':
      return check.processes.flatMap((process) => missingOfProcess(process, processAtPath(process.path, data)))
    case 'MFA':
      return [{ kind: missingMfa(check, data, apiSessionId, now) }]
  }
}

function reportedOrNot(report: object | null): MissingPosture {
  return { kind: report === null ? 'not-reported' : 'value-not-admitted' }
}

function missingOfProcess(
  { path, hashes, signerFingerprints }: Pick<CheckedMultiProcess, 'path' | 'hashes' | 'signerFingerprints'>,
  report: ReportedProcess | undefined,
): readonly MissingPosture[] {
  if (report === undefined) return [{ kind: 'not-reported', path }]
  if (!report.isRunning) return [{ kind: 'process-not-running', path }]
  if (hashes.length > 0 && !includesAnyHex([report.hash], hashes)) return [{ kind: 'process-hash-not-admitted', path }]
  const isSigned = signerFingerprints.length === 0 || includesAnyHex(report.signerFingerprints, signerFingerprints)
  return isSigned ? [] : [{ kind: 'process-signer-not-admitted', path }]
}

function missingMfa(check: MfaCheck, data: PostureData, apiSessionId: string, now: number): MissingKind {
  const session = sessionPosture(data, apiSessionId)
  const passedAt = session?.mfa?.passedAt ?? null
  if (session === undefined || passedAt === null) return 'mfa-not-passed'
  return isTimeoutElapsed(check, passedAt, now) ? 'mfa-timed-out' : 'mfa-prompt-unanswered'
}
