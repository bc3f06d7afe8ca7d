import type { SdkInfo } from '../data/posture-data.ts'
import { compareSemVer, parseReportedVersion, type SemVer } from '../versions/semver.ts'

const MODERN_SDK_TYPE = 'ziti-sdk-c'
const FIRST_MODERN_VERSION: SemVer = { major: 0, minor: 25, patch: 0, prerelease: [] }

/** True unless the endpoint's SDK is known to follow MFA timeouts: the C SDK from version 0.25.0 on. */
export function isLegacyEndpoint(sdkInfo: SdkInfo | null): boolean {
  if (sdkInfo?.type !== MODERN_SDK_TYPE) return true
  const version = parseReportedVersion(sdkInfo.version ?? '')
  return version === undefined || compareSemVer(version, FIRST_MODERN_VERSION) < 0
}
