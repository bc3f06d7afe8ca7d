import { quoted } from '../../../../base/text.ts'
import {
  lastOfEach,
  type PostureCheckBase,
  type PostureCheckKind,
  type QueriedProcess,
  type StoredForm,
  storedAsGiven,
} from './posture-check-kind.ts'
import { withOsType } from './posture-data.ts'
import {
  type CheckedMultiProcess,
  missingOfProcess,
  type ProcessReports,
  type ProcessValue,
  processAtPath,
  processValue,
  storedMultiProcess,
} from './reported-processes.ts'

/** The processes that a PROCESS_MULTI check demands: all, or any single process (`OneOf` and `AnyOf` mean the same). */
export type ProcessSemantic = 'AllOf' | 'OneOf' | 'AnyOf'

/** The endpoint runs all, or one, of the processes. */
export interface ProcessMultiCheck extends PostureCheckBase {
  readonly typeId: 'PROCESS_MULTI'
  readonly semantic: ProcessSemantic
  readonly processes: readonly CheckedMultiProcess[]
}

export interface ProcessMultiTypes {
  readonly check: ProcessMultiCheck
  readonly reports: ProcessReports
  readonly response: never
  readonly failure: {
    readonly actualValue: readonly (ProcessValue & { readonly path: string })[]
    readonly expectedValue: readonly CheckedMultiProcess[]
    readonly semantic: ProcessSemantic
  }
  readonly view: Readonly<Record<never, never>>
}

/**
 * Every process (`AllOf`), or one of them (`OneOf`, `AnyOf`), running from its path with a required hash and signer. A
 * check that lists no process fails. PROCESS responses answer it, and PROCESS shows them.
 */
export const PROCESS_MULTI: PostureCheckKind<ProcessMultiTypes> = {
  schemaName: 'ProcessMulti',
  listed: {
    name: 'Process Multi Check',
    operatingSystems: ['Linux', 'Windows', 'macOS'].map((type) => ({ type, versions: [] })),
  },
  members: {
    semantic: { absent: 'AllOf', stored: storedAsGiven },
    processes: { absent: [], spelled: spelledProcesses, stored: storedProcesses },
  },
  nothingReported: {},
  fulfilledBy: 'endpoint',
  passes({ semantic, processes }, data) {
    const runs = (process: CheckedMultiProcess) => missingOf(process, data).length === 0
    switch (semantic) {
      case 'AllOf':
        return processes.length > 0 && processes.every(runs)
      case 'OneOf':
      case 'AnyOf':
        return processes.some(runs)
    }
  },
  failure: ({ semantic, processes }, data) => ({
    semantic,
    actualValue: processes
      .map(({ path }) => processAtPath(path, data))
      .filter((report) => report !== undefined)
      .map((report) => ({ ...processValue(report), path: report.path })),
    expectedValue: processes,
  }),
  isKnown: ({ processes }, data) => processes.some(({ path }) => processAtPath(path, data) !== undefined),
  missing: ({ processes }, data) => processes.flatMap((process) => missingOf(process, data)),
  expectedWords: (expected) => expected.map(({ path }) => `the process ${quoted(path)}`),
  query: ({ processes }) => ({ processes: processes.map(({ osType, path }): QueriedProcess => ({ osType, path })) }),
  view: () => ({}),
}

function missingOf(process: CheckedMultiProcess, data: ProcessReports) {
  return missingOfProcess(process, processAtPath(process.path, data))
}

function spelledProcesses(given: unknown): unknown {
  return Array.isArray(given) ? given.map((process: unknown) => withOsType('osType', process)) : given
}

/** The stored form of a PROCESS_MULTI check's processes: the last of each system and path, sorted by both. */
export function storedProcesses(
  processes: readonly (Omit<CheckedMultiProcess, 'osType'> & { readonly osType: string })[],
  isAsWritten = false,
): StoredForm<readonly CheckedMultiProcess[]> {
  const stored: CheckedMultiProcess[] = []
  for (const [index, process] of processes.entries()) {
    const form = storedMultiProcess(process, isAsWritten)
    if (!form.ok) return { ...form, field: `[${index}].${form.field}` }
    stored.push(form.value)
  }
  return { ok: true, value: lastOfEach(stored, ({ osType, path }) => `${osType}-${path}`) }
}
