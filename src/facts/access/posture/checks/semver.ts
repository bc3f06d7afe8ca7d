/** A version of SemVer 2.0. Build metadata is not kept, because it has no part in precedence. */
export interface SemVer {
  readonly major: number
  readonly minor: number
  readonly patch: number
  readonly prerelease: readonly string[]
}

/** The pieces of a version's text: the words between dots, and the prerelease identifiers after the hyphen. */
export interface VersionPieces {
  readonly parts: readonly string[]
  readonly prerelease: readonly string[]
}

const NUMBER = /^(?:0|[1-9][0-9]*)$/
const DIGITS = /^[0-9]+$/
const IDENTIFIER = /^[0-9A-Za-z-]+$/

/** The number in a version part; `undefined` for signs, leading zeros, letters and unsafe integers. */
export function parseVersionNumber(part: string): number | undefined {
  if (!NUMBER.test(part)) return undefined
  const value = Number(part)
  return Number.isSafeInteger(value) ? value : undefined
}

/** The pieces of a version; `undefined` when its prerelease or build metadata violates SemVer 2.0. */
export function splitVersion(text: string): VersionPieces | undefined {
  const [version, build] = splitOnce(text, '+')
  const [core, prerelease] = splitOnce(version, '-')
  if (build !== undefined && !build.split('.').every(isIdentifier)) return undefined
  const identifiers = prerelease?.split('.') ?? []
  if (!identifiers.every(isPrereleaseIdentifier)) return undefined
  return { parts: core.split('.'), prerelease: identifiers }
}

/**
 * The version that an endpoint reports; `undefined` for a version outside of SemVer 2.0. Missing minor and patch numbers count as zero:
 * `10.15` is `10.15.0`.
 */
export function parseReportedVersion(text: string): SemVer | undefined {
  const pieces = splitVersion(text)
  if (pieces === undefined || pieces.parts.length > 3) return undefined
  const [major, minor, patch] = [...pieces.parts, '0', '0'].map(parseVersionNumber)
  if (major === undefined || minor === undefined || patch === undefined) return undefined
  return { major, minor, patch, prerelease: pieces.prerelease }
}

/** Orders versions by SemVer 2.0 precedence: negative, zero or positive as `a` is lower than, equal to or above `b`. */
export function compareSemVer(a: SemVer, b: SemVer): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch || comparePrerelease(a.prerelease, b.prerelease)
}

function comparePrerelease(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  for (const [index, identifier] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1
    const order = compareIdentifiers(identifier, other)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Numeric identifiers stay text, so that a reported number of any length compares exactly. */
function compareIdentifiers(a: string, b: string): number {
  const aIsNumber = DIGITS.test(a)
  const bIsNumber = DIGITS.test(b)
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1
  if (aIsNumber && a.length !== b.length) return a.length - b.length
  return a === b ? 0 : a < b ? -1 : 1
}

function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text)
}

function isPrereleaseIdentifier(text: string): boolean {
  return isIdentifier(text) && (!DIGITS.test(text) || NUMBER.test(text))
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
