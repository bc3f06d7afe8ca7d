import { compareSemVer, parseVersionNumber, type SemVer, splitVersion } from './semver.ts'

/** A place on the line of versions: just before a version, or just after it. */
interface Cut {
  readonly version: SemVer
  readonly after: boolean
}

/** The versions between two cuts; a missing cut leaves that side open. */
export interface VersionSpan {
  readonly from?: Cut | undefined
  readonly to?: Cut | undefined
}

/** A version of which only the first 0 to 3 numbers may be given: `10`, `10.15`, `10.x`, `*`. */
export interface PartialVersion {
  readonly numbers: readonly number[]
  readonly prerelease: readonly string[]
}

const WILDCARDS: ReadonlySet<string> = new Set(['x', 'X', '*'])

/** Reads a whole version, or one that ends early or in wildcards; `undefined` when the text is neither. */
export function parsePartialVersion(text: string): PartialVersion | undefined {
  const pieces = splitVersion(text)
  if (pieces === undefined || pieces.parts.length > 3) return undefined
  const wildcardAt = pieces.parts.findIndex((part) => WILDCARDS.has(part))
  const given = wildcardAt < 0 ? pieces.parts : pieces.parts.slice(0, wildcardAt)
  if (!pieces.parts.slice(given.length).every((part) => WILDCARDS.has(part))) return undefined
  const numbers = given.map(parseVersionNumber).filter((value) => value !== undefined)
  if (numbers.length < given.length) return undefined
  if (numbers.length < 3 && (pieces.prerelease.length > 0 || text.includes('+'))) return undefined
  return { numbers, prerelease: pieces.prerelease }
}

/** The versions that a partial version stands for: `1.2.x` is from 1.2.0 up to but not including 1.3.0. */
export function spanOf(partial: PartialVersion): VersionSpan {
  const last = partial.numbers.length - 1
  if (last < 0) return {}
  const from = before(lowest(partial))
  return last === 2 ? { from, to: { version: from.version, after: true } } : { from, to: before(next(partial, last)) }
}

/** The versions of `~`: those that change the patch, or the minor where only a major number is given. */
export function tildeSpanOf(partial: PartialVersion): VersionSpan {
  return spanBelowNext(partial, Math.min(partial.numbers.length - 1, 1))
}

/** The versions of `^`: those that keep the first number that is not zero. */
export function caretSpanOf(partial: PartialVersion): VersionSpan {
  const significant = partial.numbers.findIndex((value) => value !== 0)
  return spanBelowNext(partial, significant < 0 ? partial.numbers.length - 1 : significant)
}

/** True when the version lies between the cuts. */
export function spanIncludes(span: VersionSpan, version: SemVer): boolean {
  return (span.from === undefined || isPast(version, span.from)) && (span.to === undefined || !isPast(version, span.to))
}

/** As npm does, `~` and `^` also leave out the prereleases of the version they stop at. */
function spanBelowNext(partial: PartialVersion, index: number): VersionSpan {
  if (index < 0) return {}
  return { from: before(lowest(partial)), to: before({ ...next(partial, index), prerelease: ['0'] }) }
}

function isPast(version: SemVer, cut: Cut): boolean {
  const order = compareSemVer(version, cut.version)
  return cut.after ? order > 0 : order >= 0
}

function before(version: SemVer): Cut {
  return { version, after: false }
}

function lowest({ numbers, prerelease }: PartialVersion): SemVer {
  const [major = 0, minor = 0, patch = 0] = numbers
  return { major, minor, patch, prerelease }
}

function next({ numbers }: PartialVersion, index: number): SemVer {
  const raised = numbers.slice(0, index + 1).map((value, at) => (at === index ? value + 1 : value))
  return lowest({ numbers: raised, prerelease: [] })
}
