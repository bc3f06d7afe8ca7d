import { matches, parseQuery } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { FULL, SYMBOLS } from './gadgets.ts'

const nested = (levels: number) => `${'('.repeat(levels)}isAdmin${')'.repeat(levels)}`
const subqueries = (levels: number) =>
  `${'('.repeat(levels - 1)}isEmpty(from roleAttributes where id = "x")${')'.repeat(levels - 1)}`
const chain = (terms: number) => Array(terms).fill('isAdmin').join(' and ')
const nots = (terms: number) => `${'not '.repeat(terms - 1)}isAdmin`
const characters = (count: number) => `name = "${'x'.repeat(count - 9)}"`

describe('a filter has at most', () => {
  it.each([
    ['64 levels', nested(64), nested(65)],
    ['64 levels, subqueries included', subqueries(64), subqueries(65)],
    ['256 terms', chain(256), chain(257)],
    ['256 terms, each not counted', nots(256), nots(257)],
    ['4,096 characters', characters(4096), characters(4097)],
  ])('%s', (_, most, tooMuch) => {
    expect(typeof matches(parseQuery(most, SYMBOLS).where ?? { kind: 'all' }, FULL)).toBe('boolean')
    expect(() => parseQuery(tooMuch, SYMBOLS)).toThrow(expect.objectContaining({ name: 'FilterError', kind: 'limit' }))
  })
})

describe('what stands side by side is not nested', () => {
  it.each(['(isAdmin)', 'isEmpty(from roleAttributes where id = "x")'])('%s, 80 times', (term) => {
    expect(parseQuery(Array(80).fill(term).join(' or '), SYMBOLS)).toHaveProperty('where.kind', 'or')
  })
})

const filled = (part: string, start = '', end = '') =>
  start + part.repeat(Math.floor((4096 - start.length - end.length) / part.length)) + end

describe('any text of 4 KiB is parsed or refused within 5 ms', () => {
  it.each([
    ['open parentheses', filled('(')],
    ['closed parentheses', filled(')')],
    ['nots', filled('not ')],
    ['a chain', filled('isAdmin and ', '', 'isAdmin')],
    ['a long array', filled('"x", ', 'name in [', '"x"]')],
    ['empty arrays', filled('name in [] or ')],
    ['an unterminated string', filled('x', 'name = "')],
    ['backslashes', filled('\\', 'name = "')],
    ['escaped quotes', filled('\\"', 'name = "', '"')],
    ['a long number', filled('9', 'cost = ')],
    ['exponents', filled('1e', 'cost = ')],
    ['a long word', filled('a')],
    ['a long path', filled('a.', 'tags.', 'a = 1')],
    ['hyphens', filled('a-', 'tags.')],
    ['datetimes without end', filled('datetime(')],
    ['a datetime of spaces', filled(' ', 'createdAt = datetime(')],
    ['a datetime of digits', filled('1', 'createdAt = datetime(', ')')],
    ['white space', filled(' \n\t\r')],
    ['lines', filled('\n', '', '~')],
    ['astral characters', filled('\u{1f600}', 'name = "', '"')],
    ['sort fields', filled('name, ', 'sort by ', 'id')],
    ['subqueries', filled('isEmpty(from roleAttributes where ')],
  ])('%s', (_, text) => {
    const fastest = Math.min(...Array.from({ length: 10 }, () => timeOf(() => parseQuery(text, SYMBOLS))))
    expect(text.length).toBeLessThanOrEqual(4096)
    expect(fastest).toBeLessThan(5)
  })
})

/** Milliseconds that `work` takes, whether it throws or not. */
function timeOf(work: () => unknown): number {
  const start = performance.now()
  try {
    work()
  } catch {
    // A refusal is as good an answer as a filter, in time.
  }
  return performance.now() - start
}
