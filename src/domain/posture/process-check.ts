import { includesAnyHex } from './hex.ts'
import type { ProcessCheck } from './posture-check.ts'
import type { PostureData, ReportedProcess } from './posture-data.ts'

/** True when the endpoint reported the process as running, with a required hash and the required signer, if any. */
export function passesProcessCheck(check: ProcessCheck, data: PostureData): boolean {
  const report = processReport(check, data)
  const signer = check.process.signerFingerprint ?? ''
  return report !== undefined && runsAs(report, check.process.hashes, signer === '' ? [] : [signer])
}

/**
 * The newest report of the process: by the id of the check, or by its path.
 *
 * The C SDK answers only the first query that names a path, so a second check of the same path would never see a
 * report under its own id.
 */
export function processReport(check: ProcessCheck, data: PostureData): ReportedProcess | undefined {
  const byId = data.processes.find((report) => report.postureCheckId === check.id)
  const byPath = processAtPath(check.process.path, data)
  if (byId === undefined || byPath === undefined) return byId ?? byPath
  return byPath.lastUpdatedAt > byId.lastUpdatedAt ? byPath : byId
}

/** The newest report of exactly this path, whichever check it answered. */
export function processAtPath(path: string, data: PostureData): ReportedProcess | undefined {
  return data.processesByPath.find((report) => report.path === path)
}

/** True when the process runs from a binary with one of the hashes and one of the signers; an empty list asks none. */
export function runsAs(report: ReportedProcess, hashes: readonly string[], signers: readonly string[]): boolean {
  if (!report.isRunning) return false
  if (hashes.length > 0 && !includesAnyHex([report.hash], hashes)) return false
  return signers.length === 0 || includesAnyHex(report.signerFingerprints, signers)
}
