import { listed, quoted } from '../../../../base/text.ts'
import {
  lastOfEach,
  listedOn,
  missingReport,
  type PostureCheckBase,
  type PostureCheckKind,
  type StoredForm,
  unknownOs,
} from './posture-check-kind.ts'
import {
  canonicalOsType,
  type OsType,
  type Report,
  type ReportView,
  reportedOsType,
  reportOf,
  reportView,
  withOsType,
} from './posture-data.ts'
import { parseReportedVersion } from './semver.ts'
import { parseVersionRange, satisfiesRange } from './version-range.ts'

/** An operating system and its permitted version ranges; an empty list permits every version. */
export interface OperatingSystem {
  readonly type: OsType
  readonly versions: readonly string[]
}

/** The endpoint runs one of the operating systems, in one of its versions. */
export interface OsCheck extends PostureCheckBase {
  readonly typeId: 'OS'
  readonly operatingSystems: readonly OperatingSystem[]
}

/** The operating system that an endpoint reported, in its own spelling. */
export interface ReportedOs extends Report {
  readonly type: string
  readonly version: string
  readonly build: string
}

/** A report of an endpoint's operating system. */
export interface OsResponse {
  readonly id: string
  readonly typeId: 'OS'
  readonly type: string
  readonly version: string
  readonly build?: string | undefined
}

export interface OsTypes {
  readonly check: OsCheck
  readonly reports: { readonly os: ReportedOs | null }
  readonly response: OsResponse
  readonly failure: {
    readonly actualValue: { readonly type: string; readonly version: string }
    readonly expectedValue: readonly OperatingSystem[]
  }
  readonly view: {
    readonly os: ReportView & {
      readonly build: string | null
      readonly type: string | null
      readonly version: string | null
    }
  }
}

/** The operating system and its version. */
export const OS: PostureCheckKind<OsTypes> = {
  schemaName: 'OperatingSystem',
  listed: listedOn('Operating System Check', ['Android', 'Linux', 'Windows', 'iOS', 'macOS']),
  members: {
    operatingSystems: { absent: [], spelled: spelledOperatingSystems, stored: storedOperatingSystems },
  },
  nothingReported: { os: null },
  response: {
    typeId: 'OS',
    schemaName: 'OperatingSystem',
    reported(_data, responses, _apiSessionId, now) {
      const last = responses.at(-1)
      if (last === undefined) return {}
      const { type, version, build = '' } = last
      return { os: { ...reportOf(last, now), type, version, build } }
    },
  },
  fulfilledBy: 'endpoint',
  /** Without ranges the version does not matter. Among several entries for one operating system, the last counts. */
  passes(check, { os }) {
    if (os === null) return false
    const type = reportedOsType(os.type)
    const admitted = check.operatingSystems.findLast((operatingSystem) => operatingSystem.type === type)
    if (admitted === undefined) return false
    return admitted.versions.length === 0 || isInAnyRange(os.version, admitted.versions)
  },
  failure(check, { os }) {
    return {
      actualValue: { type: os?.type ?? '', version: os?.version ?? '' },
      expectedValue: check.operatingSystems,
    }
  },
  isKnown: (_check, { os }) => os !== null,
  missing: (_check, { os }) => missingReport(os),
  expectedWords: (expected) =>
    expected.map(({ type, versions }) => (versions.length === 0 ? type : `${type} ${listed(versions, 'or')}`)),
  actualWords: ({ type, version }) => quoted(`${type} ${version}`),
  view: ({ os }) => ({
    os: { ...reportView(os), build: os?.build ?? null, type: os?.type ?? null, version: os?.version ?? null },
  }),
}

function isInAnyRange(reported: string, ranges: readonly string[]): boolean {
  const version = parseReportedVersion(reported)
  if (version === undefined) return false
  return ranges.some((text) => {
    const parsed = parseVersionRange(text)
    return parsed.ok && satisfiesRange(version, parsed.range)
  })
}

/** Accepts `Type` and `Versions` with capitals, as deployed command lines write them. */
function spelledOperatingSystems(given: unknown): unknown {
  return Array.isArray(given) ? given.map((entry: unknown) => withOsType('type', withSmallInitials(entry))) : given
}

function withSmallInitials(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { Type, Versions, ...rest }: { readonly Type?: unknown; readonly Versions?: unknown } = value
  return { ...(Type !== undefined && { type: Type }), ...(Versions !== undefined && { versions: Versions }), ...rest }
}

/**
 * The stored form of an OS check's operating systems: canonical names, the last entry of each, sorted by name. Fails on an unknown
 * operating system (`[0].type`) or an unreadable version range (`[Linux][1]`).
 */
export function storedOperatingSystems(
  entries: readonly { readonly type: string; readonly versions: readonly string[] }[],
): StoredForm<readonly OperatingSystem[]> {
  const stored: OperatingSystem[] = []
  for (const [index, { type: name, versions }] of entries.entries()) {
    const type = canonicalOsType(name)
    if (type === undefined) return unknownOs(`[${index}].type`, name)
    for (const [at, version] of versions.entries()) {
      const parsed = parseVersionRange(version)
      if (parsed.ok) continue
      const reason = `invalid version for os: [${type}], version: [${version}]: ${parsed.reason}`
      return { ok: false, field: `[${type}][${at}]`, reason, value: version }
    }
    stored.push({ type, versions })
  }
  return { ok: true, value: lastOfEach(stored, (entry) => entry.type) }
}
