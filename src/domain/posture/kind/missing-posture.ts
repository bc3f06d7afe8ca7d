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

/** What a posture check misses; `path` names the process, where it is about one. */
export interface MissingPosture {
  readonly kind: MissingKind
  readonly path?: string
}

/** What a failing check misses that looks at one report. */
export function missingReport(report: object | null): readonly MissingPosture[] {
  return [{ kind: report === null ? 'not-reported' : 'value-not-admitted' }]
}
