import type { CheckedMultiProcess, ProcessMultiCheck } from './posture-check.ts'
import type { PostureData } from './posture-data.ts'
import { processAtPath, runsAs } from './process-check.ts'

/**
 * True when the endpoint reported every process (`AllOf`), or one of them (`OneOf`, `AnyOf`), as running from its path
 * with a required hash and signer. A check that lists no process fails.
 */
export function passesProcessMultiCheck(check: ProcessMultiCheck, data: PostureData): boolean {
  const passes = (process: CheckedMultiProcess) => runsAsListed(process, data)
  switch (check.semantic) {
    case 'AllOf':
      return check.processes.length > 0 && check.processes.every(passes)
    case 'OneOf':
    case 'AnyOf':
      return check.processes.some(passes)
  }
}

function runsAsListed(process: CheckedMultiProcess, data: PostureData): boolean {
  const report = processAtPath(process.path, data)
  return report !== undefined && runsAs(report, process.hashes, process.signerFingerprints)
}
