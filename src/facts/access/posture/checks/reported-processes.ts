import { type MissingPosture, type StoredForm, storedHexList, unknownOs } from './posture-check-kind.ts'
import {
  canonicalOsType,
  includesAnyHex,
  normaliseHex,
  normaliseHexList,
  type OsType,
  type Report,
  reportOf,
} from './posture-data.ts'

/** A process that a check demands. An empty list permits any hash or any signer. */
export interface CheckedMultiProcess {
  readonly osType: OsType
  readonly path: string
  readonly hashes: readonly string[]
  readonly signerFingerprints: readonly string[]
}

/** A process that an endpoint reported: the path in its own spelling, hash (`''` without a hash) and signers normalised. */
export interface ReportedProcess extends Report {
  readonly path: string
  readonly isRunning: boolean
  readonly hash: string
  readonly signerFingerprints: readonly string[]
}

/** The processes that endpoints of one identity reported. */
export interface ProcessReports {
  /** The newest report of each posture check id, oldest first. */
  readonly processes: readonly ReportedProcess[]
  /** The newest report of each path, oldest first. */
  readonly processesByPath: readonly ReportedProcess[]
}

/** A report of one process, in answer to a PROCESS or a PROCESS_MULTI check. */
export interface ProcessResponse {
  readonly id: string
  readonly typeId: 'PROCESS'
  readonly path?: string | undefined
  readonly isRunning?: boolean | undefined
  readonly hash?: string | undefined
  readonly signerFingerprints?: readonly string[] | undefined
}

/** Processes kept per identity; beyond it the oldest reports are dropped, so that a client cannot fill the memory. */
export const MAX_REPORTED_PROCESSES = 1000

/** The known processes after further reports at `now` (epoch ms). */
export function reportedProcesses(
  data: ProcessReports,
  responses: readonly ProcessResponse[],
  now: number,
): ProcessReports {
  const processes = responses.map((response) => reportedProcess(response, now))
  const withPath = processes.filter((process) => process.path !== '')
  return {
    processes: newest([...data.processes, ...processes], (process) => process.postureCheckId),
    processesByPath: newest([...data.processesByPath, ...withPath], (process) => process.path),
  }
}

function reportedProcess(response: ProcessResponse, now: number): ReportedProcess {
  return {
    ...reportOf(response, now),
    path: response.path ?? '',
    isRunning: response.isRunning ?? false,
    hash: normaliseHex(response.hash ?? '') ?? '',
    signerFingerprints: normaliseHexList(response.signerFingerprints ?? []),
  }
}

/** The last process of each key, in the order of their reports. */
function newest(processes: readonly ReportedProcess[], keyOf: (process: ReportedProcess) => string) {
  const byKey = new Map<string, ReportedProcess>()
  for (const process of processes) {
    byKey.delete(keyOf(process))
    byKey.set(keyOf(process), process)
  }
  return [...byKey.values()].slice(-MAX_REPORTED_PROCESSES)
}

/** The newest report of exactly this path, whichever check it answered. */
export function processAtPath(path: string, data: ProcessReports): ReportedProcess | undefined {
  return data.processesByPath.find((report) => report.path === path)
}

type Binary = Pick<CheckedMultiProcess, 'path' | 'hashes' | 'signerFingerprints'>

/** Lists the conditions that a reported process misses: to run from a binary with one of the hashes and one of the signers. */
export function missingOfProcess(asked: Binary, report: ReportedProcess | undefined): readonly MissingPosture[] {
  const { path, hashes, signerFingerprints } = asked
  if (report === undefined) return [{ kind: 'not-reported', path }]
  if (!report.isRunning) return [{ kind: 'process-not-running', path }]
  if (hashes.length > 0 && !includesAnyHex([report.hash], hashes)) return [{ kind: 'process-hash-not-admitted', path }]
  const isSigned = signerFingerprints.length === 0 || includesAnyHex(report.signerFingerprints, signerFingerprints)
  return isSigned ? [] : [{ kind: 'process-signer-not-admitted', path }]
}

/** A process as an endpoint reported it. */
export interface ProcessValue {
  readonly hash: string
  readonly isRunning: boolean
  readonly signerFingerprints: readonly string[] | null
}

/** The value of a process by its report; empty without a report. */
export function processValue(report: ReportedProcess | undefined): ProcessValue {
  if (report === undefined) return { hash: '', isRunning: false, signerFingerprints: null }
  return { hash: report.hash, isRunning: report.isRunning, signerFingerprints: report.signerFingerprints }
}

/** The stored form of a process. The path is kept verbatim, and so are hex digits when they are kept as written. */
export function storedMultiProcess(
  process: Omit<CheckedMultiProcess, 'osType'> & { readonly osType: string },
  isAsWritten: boolean,
): StoredForm<CheckedMultiProcess> {
  const osType = canonicalOsType(process.osType)
  if (osType === undefined) return unknownOs('osType', process.osType)
  const hashes = storedHexList(process.hashes, isAsWritten)
  if (!hashes.ok) return { ...hashes, field: `hashes${hashes.field}` }
  const signers = storedHexList(process.signerFingerprints, isAsWritten)
  if (!signers.ok) return { ...signers, field: `signerFingerprints${signers.field}` }
  return { ok: true, value: { osType, path: process.path, hashes: hashes.value, signerFingerprints: signers.value } }
}
