import type { SemVer } from './semver.ts'
import {
  caretSpanOf,
  type PartialVersion,
  parsePartialVersion,
  spanIncludes,
  spanOf,
  tildeSpanOf,
  type VersionSpan,
} from './version-span.ts'

/** One comparison: the version lies inside the span, or, for `!=`, outside of it. */
interface Comparator {
  readonly span: VersionSpan
  readonly inside: boolean
}

/** Alternatives of comparators; a version satisfies the range when it satisfies every comparator of one alternative. */
export type VersionRange = readonly (readonly Comparator[])[]

/** A version range, or why the text is none. */
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
 * Reads a version range of an OS posture check: comparators joined by spaces (all must hold) in alternatives joined by
 * `||` (one must hold). A comparator is one of `= == ! != > >= < <= ~ ^`, or none, before a whole version or one that
 * ends early (`10.15`) or in wildcards (`1.2.x`, `*`).
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

/** The words of an alternative; an operator that stands apart (`>= 1.0.0`) is joined to the word after it. */
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

/** Nothing lies above a span that is open upwards, or below one that is open downwards. */
function from(cut: VersionSpan['from']): Comparator {
  return cut === undefined ? NOTHING : { span: { from: cut }, inside: true }
}

function upTo(cut: VersionSpan['to']): Comparator {
  return cut === undefined ? NOTHING : { span: { to: cut }, inside: true }
}

function unreadable(text: string, detail: string): ParsedVersionRange {
  return { ok: false, reason: `"${text}" is not a version range: ${detail}` }
}
