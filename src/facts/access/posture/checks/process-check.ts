import { quoted } from '../../../../base/text.ts'
import { listedOn, type PostureCheckBase, type PostureCheckKind, type StoredForm } from './posture-check-kind.ts'
import { type OsType, type ReportView, reportView, withOsType } from './posture-data.ts'
import {
  missingOfProcess,
  type ProcessReports,
  type ProcessResponse,
  type ProcessValue,
  processAtPath,
  processValue,
  type ReportedProcess,
  reportedProcesses,
  storedMultiProcess,
} from './reported-processes.ts'

/** A process that a PROCESS check demands. An empty list of hashes permits any hash, and an absent signer any signer. */
export interface CheckedProcess {
  readonly osType: OsType
  readonly path: string
  readonly hashes: readonly string[]
  readonly signerFingerprint?: string | undefined
}

/** The endpoint runs the process. */
export interface ProcessCheck extends PostureCheckBase {
  readonly typeId: 'PROCESS'
  readonly process: CheckedProcess
}

/** The shown form of a reported process; the hash is empty without a report. */
export interface ProcessView extends ReportView {
  readonly binaryHash: string
  readonly isRunning: boolean
  readonly signerFingerprints: readonly string[]
}

export interface ProcessTypes {
  readonly check: ProcessCheck
  readonly reports: ProcessReports
  readonly response: ProcessResponse
  readonly failure: { readonly actualValue: ProcessValue; readonly expectedValue: CheckedProcess }
  readonly view: { readonly processes: readonly ProcessView[] }
}

/** One process, running from a binary with a required hash and the required signer, if any. */
export const PROCESS: PostureCheckKind<ProcessTypes> = {
  schemaName: 'Process',
  listed: listedOn('Process Check', ['Linux', 'Windows', 'macOS']),
  members: {
    process: {
      absent: { osType: 'Linux', path: '', hashes: [] },
      spelled: (given) => withOsType('osType', given),
      stored: storedWithSigner,
    },
  },
  nothingReported: { processes: [], processesByPath: [] },
  response: {
    typeId: 'PROCESS',
    schemaName: 'Process',
    reported: (data, responses, _apiSessionId, now) => reportedProcesses(data, responses, now),
  },
  fulfilledBy: 'endpoint',
  passes: (check, data) => missingOfProcess(binaryOf(check), processReport(check, data)).length === 0,
  failure: (check, data) => ({
    actualValue: processValue(processReport(check, data)),
    expectedValue: expectedProcess(check.process),
  }),
  isKnown: (check, data) => processReport(check, data) !== undefined,
  missing: (check, data) => missingOfProcess(binaryOf(check), processReport(check, data)),
  expectedWords: ({ path }) => [`the process ${quoted(path)}`],
  query: ({ process: { osType, path } }) => ({ process: { osType, path } }),
  view: ({ processes }) => ({ processes: processes.map(processView) }),
}

/**
 * The newest report of the process: by the id of the check, or by its path.
 *
 * The C SDK answers only the first query that names a path, so a second check of the same path would never see a report under its own id.
 */
function processReport(check: ProcessCheck, data: ProcessReports): ReportedProcess | undefined {
  const byId = data.processes.find((report) => report.postureCheckId === check.id)
  const byPath = processAtPath(check.process.path, data)
  if (byId === undefined || byPath === undefined) return byId ?? byPath
  return byPath.lastUpdatedAt > byId.lastUpdatedAt ? byPath : byId
}

function binaryOf({ process: { path, hashes, signerFingerprint = '' } }: ProcessCheck) {
  return { path, hashes, signerFingerprints: signerFingerprint === '' ? [] : [signerFingerprint] }
}

/** The demanded process, without an empty signer, as deployed controllers show it. */
function expectedProcess({ osType, path, hashes, signerFingerprint = '' }: CheckedProcess): CheckedProcess {
  return { osType, path, hashes, ...(signerFingerprint === '' ? {} : { signerFingerprint }) }
}

function processView(process: ReportedProcess): ProcessView {
  return {
    ...reportView(process),
    binaryHash: process.hash,
    isRunning: process.isRunning,
    signerFingerprints: process.signerFingerprints,
  }
}

/** The stored form of a PROCESS check's process. The path is kept verbatim; an empty signer permits any. */
export function storedProcess(
  process: Omit<CheckedProcess, 'osType'> & { readonly osType: string },
  isAsWritten = false,
): StoredForm<CheckedProcess> {
  const { signerFingerprint = '' } = process
  const signerFingerprints = signerFingerprint === '' ? [] : [signerFingerprint]
  const stored = storedMultiProcess({ ...process, signerFingerprints }, isAsWritten)
  if (!stored.ok) return { ...stored, field: stored.field.replace('signerFingerprints[0]', 'signerFingerprint') }
  const { osType, path, hashes } = stored.value
  const [signer] = stored.value.signerFingerprints
  return { ok: true, value: { osType, path, hashes, ...(signer === undefined ? {} : { signerFingerprint: signer }) } }
}

/** Adds an empty signer where none is demanded, as the wire shows it. */
function storedWithSigner(process: CheckedProcess, isAsWritten: boolean): StoredForm<CheckedProcess> {
  const stored = storedProcess(process, isAsWritten)
  return stored.ok ? { ok: true, value: { signerFingerprint: '', ...stored.value } } : stored
}
