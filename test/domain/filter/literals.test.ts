import { parseQuery } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { SYMBOLS } from './gadgets.ts'

function comparedValue(text: string): unknown {
  const { where } = parseQuery(text, SYMBOLS)
  return where?.kind === 'compare' ? where.value : where
}

describe('strings', () => {
  it.each([
    ['""', ''],
    ['"plain"', 'plain'],
    ['"it\'s"', "it's"],
    ['"a \\"b\\""', 'a "b"'],
    ['"\\f\\n\\r\\t"', '\f\n\r\t'],
    ['"C:\\\\new"', 'C:\\new'],
    ['"\\\\\\\\"', '\\\\'],
    ['"äé \u{1f600} \u007f\u2028"', 'äé \u{1f600} \u007f\u2028'],
    ['"and or not ) ]"', 'and or not ) ]'],
  ])('%s', (text, value) => {
    expect(comparedValue(`name = ${text}`)).toBe(value)
  })

  it.each(['"', '"x', '"x\\', '"x\\"', '"\\u0041"', '"\\/"', '"\n"', '"\t"', '"\0"', "'x'", 'x', '"a" "b"'])(
    '%j is none',
    (text) => {
      expect(() => parseQuery(`name = ${text}`, SYMBOLS)).toThrow(expect.objectContaining({ name: 'FilterError' }))
    },
  )
})

describe('numbers', () => {
  it.each([
    ['0', 0],
    ['-0', 0],
    ['42', 42],
    ['-7', -7],
    ['1.50', 1.5],
    ['0.001', 0.001],
    ['1e3', 1000],
    ['-1.5E-2', -0.015],
    ['2e+0', 2],
  ])('%s', (text, value) => {
    expect(comparedValue(`load = ${text}`)).toBe(value)
  })

  it.each([
    '007',
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e05',
    '0x10',
    '1_000',
    '--1',
    '-',
    'Infinity',
    'NaN',
    '1e999',
    '-1e999',
  ])('%s is none', (text) => {
    expect(() => parseQuery(`load = ${text}`, SYMBOLS)).toThrow(expect.objectContaining({ kind: 'syntax' }))
  })
})

describe('instants', () => {
  it.each([
    ['datetime(1970-01-01T00:00:00Z)', 0],
    ['datetime(2024-05-01T12:00:00Z)', Date.UTC(2024, 4, 1, 12)],
    ['datetime(2024-05-01t12:00:00z)', Date.UTC(2024, 4, 1, 12)],
    ['datetime( \t2024-05-01T12:00:00Z\n)', Date.UTC(2024, 4, 1, 12)],
    ['datetime(2024-05-01T14:00:00+02:00)', Date.UTC(2024, 4, 1, 12)],
    ['datetime(2024-05-01T12:00:00-00:30)', Date.UTC(2024, 4, 1, 12, 30)],
    ['datetime(2024-05-01T12:00:00.5Z)', Date.UTC(2024, 4, 1, 12, 0, 0, 500)],
    ['datetime(2024-05-01T12:00:00.123999999Z)', Date.UTC(2024, 4, 1, 12, 0, 0, 123)],
    ['datetime(2024-02-29T23:59:59Z)', Date.UTC(2024, 1, 29, 23, 59, 59)],
    ['datetime(2000-02-29T00:00:00Z)', Date.UTC(2000, 1, 29)],
    ['datetime(1969-12-31T23:59:59.999Z)', -1],
  ])('%s', (text, value) => {
    expect(comparedValue(`createdAt = ${text}`)).toBe(value)
  })

  it.each([
    ['datetime(2024-02-30T00:00:00Z)', 'type'],
    ['datetime(2023-02-29T00:00:00Z)', 'type'],
    ['datetime(1900-02-29T00:00:00Z)', 'type'],
    ['datetime(2024-00-01T00:00:00Z)', 'type'],
    ['datetime(2024-13-01T00:00:00Z)', 'type'],
    ['datetime(2024-01-00T00:00:00Z)', 'type'],
    ['datetime(2024-01-01T24:00:00Z)', 'type'],
    ['datetime(2024-01-01T00:60:00Z)', 'type'],
    ['datetime(2024-01-01T00:00:60Z)', 'type'],
    ['datetime(2024-01-01T00:00:00+24:00)', 'type'],
    ['datetime(2024-01-01T00:00:00+00:60)', 'type'],
    ['datetime(2024-01-01T00:00:00.Z)', 'type'],
    ['datetime(2024-01-01T00:00:00)', 'type'],
    ['datetime(2024-01-01)', 'type'],
    ['datetime()', 'type'],
    ['datetime(2024-01-01 00:00:00Z)', 'syntax'],
    ['datetime(2024-01-01T00:00:00Z', 'syntax'],
    ['datetime("2024-01-01T00:00:00Z")', 'syntax'],
    ['datetime (2024-01-01T00:00:00Z)', 'syntax'],
    ['DateTime(2024-01-01T00:00:00Z)', 'syntax'],
    ['datetime', 'syntax'],
  ])('%s is none (%s)', (text, kind) => {
    expect(() => parseQuery(`createdAt = ${text}`, SYMBOLS)).toThrow(expect.objectContaining({ kind }))
  })
})
