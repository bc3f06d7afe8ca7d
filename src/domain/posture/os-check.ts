import { reportedOsType } from './os-type.ts'
import type { OsCheck } from './posture-check.ts'
import type { PostureData } from './posture-data.ts'
import { parseReportedVersion } from './semver.ts'
import { parseVersionRange, satisfiesRange } from './version-range.ts'

/**
 * True when the endpoint reported one of the operating systems and a version in any of its ranges. Without ranges the
 * version is not looked at. Of several entries for one operating system the last counts.
 */
export function passesOsCheck(check: OsCheck, data: PostureData): boolean {
  if (data.os === null) return false
  const type = reportedOsType(data.os.type)
  const admitted = check.operatingSystems.findLast((operatingSystem) => operatingSystem.type === type)
  if (admitted === undefined) return false
  return admitted.versions.length === 0 || isInAnyRange(data.os.version, admitted.versions)
}

function isInAnyRange(reported: string, ranges: readonly string[]): boolean {
  const version = parseReportedVersion(reported)
  if (version === undefined) return false
  return ranges.some((text) => {
    const parsed = parseVersionRange(text)
    return parsed.ok && satisfiesRange(version, parsed.range)
  })
}
