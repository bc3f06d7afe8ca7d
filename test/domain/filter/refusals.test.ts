import { parseQuery } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { SYMBOLS } from './gadgets.ts'

const refused = (kind: string) => expect.objectContaining({ name: 'FilterError', kind })

describe('what the grammar does not allow', () => {
  it.each([
    'and',
    'name =',
    '= "x"',
    'name "x"',
    'name == "x"',
    'name ! "x"',
    'name <> "x"',
    'name like "x"',
    'name = "x" and',
    'name = "x" & isAdmin',
    'name = "x"and isAdmin',
    'name = "x" and(isAdmin)',
    '(name = "x") or(isAdmin)',
    'not(isAdmin)',
    'not',
    '()',
    '(isAdmin',
    'isAdmin)',
    '(isAdmin))',
    'true = true',
    'name not "x"',
    'name not = "x"',
    'name not  in ["x"]',
    'name not \n in ["x"]',
    'name in []',
    'name in ["x",]',
    'name in "x"',
    'name in ("x")',
    'name in["x"]',
    'name in ["x" "y"]',
    'name in ["x", 1]',
    'name in ["x"',
    'name in [null]',
    'isAdmin in [true]',
    'cost between 1, 2',
    'cost between 1 or 2',
    'cost between 1 and',
    'cost between 1 and datetime(2024-05-01T12:00:00Z)',
    'name between "a" and "b"',
    'cost < null',
    'isAdmin > true',
    'name contains"x"',
    'name contains null',
    'name icontains 7',
    'anyOf(roleAttributes)',
    'allOf(roleAttributes) and isAdmin',
    'count(roleAttributes)',
    'anyOf (roleAttributes) = "x"',
    'anyOf roleAttributes = "x"',
    'anyOf() = "x"',
    'anyOf(roleAttributes = "x"',
    'anyOf(from roleAttributes where true) = "x"',
    'isEmpty (roleAttributes)',
    'isEmpty(roleAttributes',
    'isEmpty(roleAttributes) = true',
    'isEmpty(from roleAttributes)',
    'isEmpty(from roleAttributes where )',
    'isEmpty(from roleAttributes where(true))',
    'isEmpty(from roleAttributes where true limit 1)',
    'count(from roleAttributes where true skip 1) = 1',
    '"name" = "x"',
    '1 = 1',
    'limit = 5',
    'count = 5',
    'tags.k1 = "x"',
    'tags. = "x"',
    'tags..x = "x"',
    'tags.-x = "x"',
    'name; drop',
    'name = "x" -- ',
    '\u00e4 = "x"',
    '\u{1f600}',
    "'name = 1",
    '\0',
  ])('%j', (text) => {
    expect(() => parseQuery(text, SYMBOLS)).toThrow(refused('syntax'))
  })
})

describe('symbols that are not declared', () => {
  it.each([
    'nothing = "x"',
    'Name = "x"',
    'notify = "x"',
    '\'name\' = "x"',
    'name.first = "x"',
    'primary.cert = "x"',
    'tag.site = "x"',
    'constructor = "x"',
    'hasOwnProperty = "x"',
    'toString.name = "x"',
    'anyOf(nothing) = "x"',
    'isEmpty(nothing)',
    'count(from nothing where true) = 1',
    'isEmpty(from roleAttributes where name = "x")',
    'true sort by nothing',
  ])('%s', (text) => {
    const message = expect.stringMatching(/^unknown symbol '\S+' at column: \d+ \(expected one of .+\)$/)
    expect(() => parseQuery(text, SYMBOLS)).toThrow(expect.objectContaining({ kind: 'unknown-symbol', message }))
  })
})

describe('kinds that do not go together', () => {
  it.each([
    'name = true',
    'name = datetime(2024-05-01T12:00:00Z)',
    'cost = "1"',
    'isAdmin in ["true"]',
    'createdAt in ["2024-05-01T12:00:00Z"]',
    'load between datetime(2024-05-01T12:00:00Z) and datetime(2024-05-02T12:00:00Z)',
    'isAdmin = "true"',
    'isAdmin = 1',
    'isAdmin < 1',
    'isAdmin contains "t"',
    'createdAt = "2024-05-01T12:00:00Z"',
    'createdAt > 5',
    'createdAt contains "2024"',
    'createdAt icontains "2024"',
    'name between 1 and 2',
    'anyOf(roleAttributes) between 1 and 2',
    'count(roleAttributes) = "1"',
    'tags.site = datetime(2024-05-01T12:00:00Z)',
    'primary.updb.maxAttempts = "3"',
    'name',
    'cost and isAdmin',
    '(tags)',
    'name and tags.live',
    'not createdAt limit 5',
    'roleAttributes = "x"',
    'roleAttributes',
    'tags = "x"',
    'tags contains "x"',
    'anyOf(name) = "x"',
    'allOf(tags.list) = "a"',
    'isEmpty(name)',
    'count(tags) = 1',
    'isEmpty(from name where true)',
  ])('%s', (text) => {
    expect(() => parseQuery(text, SYMBOLS)).toThrow(refused('type'))
  })
})

describe('messages say what is wrong, where, and what was expected', () => {
  it.each([
    ['name ~ "x"', 'Unexpected symbol: "~" at line: 1 column: 5. line: name ~ "x" (expected '],
    [
      'name =',
      'Unexpected symbol: "<EOF>" at line: 1 column: 6. line: name = (expected a string or number or datetime)',
    ],
    ['isAdmin\nand )', 'Unexpected symbol: ")" at line: 2 column: 4. line: and ) (expected a condition)'],
    ['roleAttributes = "x"', "symbol 'roleAttributes' is a set symbol but is used in non-set function context"],
    [
      'name = true',
      "operation = is not supported with operands types string, bool (symbol 'name', value at column: 7, expected a string)",
    ],
    ['createdAt > "x"', 'operation > is not supported with operands types date, string'],
    ['createdAt = datetime(yesterday)', 'could not parse datetime (yesterday)'],
  ])('%j', (text, message) => {
    expect(() => parseQuery(text, SYMBOLS)).toThrow(message)
  })
})
