import { compareSemVer, parseVersionNumber, type SemVer, splitVersion } from './semver.ts'

/** A comparison: the version lies inside the span, or, for `!=`, outside of it. */
interface Comparator {
  readonly span: VersionSpan
  readonly inside: boolean
}

/** Alternatives of comparators; a version satisfies the range when it satisfies every comparator of one alternative. */
export type VersionRange = readonly (readonly Comparator[])[]

/** A version range, or the reason why the text is invalid. */
export type ParsedVersionRange =
  | { readonly ok: true; readonly range: VersionRange }
  | { readonly ok: false; readonly reason: string }

const NOTHING: Comparator = { span: {}, inside: false }

const OPERATORS: ReadonlyMap<string, (version: PartialVersion) => Comparator> = new Map([
  ['', equalTo],
  ['=', equalTo],
  ['==', equalTo],
  ['!', (version) => ({ span: spanOf(version), inside: false })],
  ['!=', (version) => ({ span: spanOf(version), inside: false })],
  ['>', (version) => from(spanOf(version).to)],
  ['>=', (version) => ({ span: { from: spanOf(version).from }, inside: true })],
  ['<', (version) => upTo(spanOf(version).from)],
  ['<=', (version) => ({ span: { to: spanOf(version).to }, inside: true })],
  ['~', (version) => ({ span: tildeSpanOf(version), inside: true })],
  ['^', (version) => ({ span: caretSpanOf(version), inside: true })],
])

/**
 * Reads a version range of an OS posture check: comparators joined by spaces (all must hold) in alternatives joined by `||` (one must
 * hold). A comparator is an optional operator (`= == ! != > >= < <= ~ ^`) before a version, which may end early (`10.15`) or in wildcards
 * (`1.2.x`, `*`).
 *
 * Comparison is plain SemVer 2.0 precedence, prereleases included.
 */
export function parseVersionRange(text: string): ParsedVersionRange {
  const range: Comparator[][] = []
  for (const alternative of text.split('||')) {
    const words = comparatorWords(alternative)
    if (words.length === 0) return unreadable(text, 'a condition is missing')
    const comparators: Comparator[] = []
    for (const word of words) {
      const comparator = parseComparator(word)
      if (comparator === undefined) return unreadable(text, `"${word}" is not a version condition`)
      comparators.push(comparator)
    }
    range.push(comparators)
  }
  return { ok: true, range }
}

/** True when the version satisfies the range. */
export function satisfiesRange(version: SemVer, range: VersionRange): boolean {
  return range.some((alternative) =>
    alternative.every((comparator) => spanIncludes(comparator.span, version) === comparator.inside),
  )
}

/** The words of an alternative; a separate operator (`>= 1.0.0`) is joined to the next word. */
function comparatorWords(alternative: string): readonly string[] {
  const words: string[] = []
  let operator = ''
  for (const word of alternative.split(/\s/)) {
    if (word === '') continue
    if (operator === '' && operatorLength(word) === word.length) {
      operator = word
      continue
    }
    words.push(operator + word)
    operator = ''
  }
  return operator === '' ? words : [...words, operator]
}

function parseComparator(word: string): Comparator | undefined {
  const length = operatorLength(word)
  const compare = OPERATORS.get(word.slice(0, length))
  const version = parsePartialVersion(word.slice(length))
  return compare === undefined || version === undefined ? undefined : compare(version)
}

function operatorLength(word: string): number {
  let length = 0
  while ('=!<>~^'.includes(word[length] ?? ' ')) length += 1
  return length
}

function equalTo(version: PartialVersion): Comparator {
  return { span: spanOf(version), inside: true }
}

/** The comparator for versions from a cut on. No version lies beyond an open end of a span. */
function from(cut: VersionSpan['from']): Comparator {
  return cut === undefined ? NOTHING : { span: { from: cut }, inside: true }
}

function upTo(cut: VersionSpan['to']): Comparator {
  return cut === undefined ? NOTHING : { span: { to: cut }, inside: true }
}

function unreadable(text: string, detail: string): ParsedVersionRange {
  return { ok: false, reason: `"${text}" is not a version range: ${detail}` }
}

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

/** A version that may stop after any of its three numbers: `10`, `10.15`, `10.x`, `*`. */
export interface PartialVersion {
  readonly numbers: readonly number[]
  readonly prerelease: readonly string[]
}

const WILDCARDS: ReadonlySet<string> = new Set(['x', 'X', '*'])

/** Reads a version, which may end early or in wildcards; `undefined` for invalid text. */
function parsePartialVersion(text: string): PartialVersion | undefined {
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
function spanOf(partial: PartialVersion): VersionSpan {
  const last = partial.numbers.length - 1
  if (last < 0) return {}
  const from = before(lowest(partial))
  return last === 2 ? { from, to: { version: from.version, after: true } } : { from, to: before(next(partial, last)) }
}

/** The versions of `~`, which may differ in the patch number, or in the minor number when only a major number is given. */
function tildeSpanOf(partial: PartialVersion): VersionSpan {
  return spanBelowNext(partial, Math.min(partial.numbers.length - 1, 1))
}

/** The versions of `^`, which share the first number that is not zero. */
function caretSpanOf(partial: PartialVersion): VersionSpan {
  const significant = partial.numbers.findIndex((value) => value !== 0)
  return spanBelowNext(partial, significant < 0 ? partial.numbers.length - 1 : significant)
}

/** True when the version lies between the cuts. */
function spanIncludes(span: VersionSpan, version: SemVer): boolean {
  return (span.from === undefined || isPast(version, span.from)) && (span.to === undefined || !isPast(version, span.to))
}

/** As in npm, `~` and `^` also leave out the prereleases of their upper bound. */
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
