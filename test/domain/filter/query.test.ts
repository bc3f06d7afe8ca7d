import { equals, type OrderBy, parseQuery, type Query } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { network } from '../../support/network.ts'
import { SYMBOLS } from './gadgets.ts'

const name: OrderBy = { field: 'name', kind: 'string', direction: 'asc' }
const where = equals('name', 'x')

const QUERIES: readonly [string, Query][] = [
  ['', {}],
  [' \n', {}],
  ['true', {}],
  ['(true)', {}],
  ['name = "x"', { where }],
  ['  name = "x"\r\n', { where }],
  ['limit none', { limit: 'none' }],
  ['LIMIT NONE', { limit: 'none' }],
  ['limit 5', { limit: 5 }],
  ['limit -1', { limit: -1 }],
  ['skip 5', { offset: 5 }],
  ['skip 5 limit 7', { offset: 5, limit: 7 }],
  ['sort by name', { orderBy: [name] }],
  ['sort by name limit none', { orderBy: [name], limit: 'none' }],
  ['SORT  BY name  DESC skip 1', { orderBy: [{ ...name, direction: 'desc' }], offset: 1 }],
  ['true limit none', { limit: 'none' }],
  ['true sort by name skip 1 limit 2', { orderBy: [name], offset: 1, limit: 2 }],
  ['name = "x" sort by name', { where, orderBy: [name] }],
  ['(name="x") limit 3', { where, limit: 3 }],
]

describe('a filter may have a condition, sort by, skip and limit, in this order', () => {
  it.each(QUERIES)('%j', (text, expected) => {
    expect(parseQuery(text, SYMBOLS)).toEqual(expected)
  })

  it.each([
    'limit 5 skip 5',
    'skip 5 sort by name',
    'limit 5 name = "x"',
    'name = "x" name = "x"',
    'sort name',
    'sort by',
    'skip',
    'limit',
    'limit 1.5',
    'limit 1e2',
    'limit "5"',
    'skip none',
    'skip5',
    'limit5',
    'limit none none',
    'name = "x"limit 5',
    '(name = "x")sort by name',
  ])('%s is a syntax error', (text) => {
    expect(() => parseQuery(text, SYMBOLS)).toThrow(expect.objectContaining({ kind: 'syntax' }))
  })
})

const SORTS: readonly [string, readonly OrderBy[]][] = [
  ['name', [name]],
  ['name asc', [name]],
  ['name  DESC', [{ ...name, direction: 'desc' }]],
  [
    '  name  desc,id ',
    [
      { ...name, direction: 'desc' },
      { ...name, field: 'id' },
    ],
  ],
  ['type', [{ ...name, field: 'typeId' }]],
  [
    'isAdmin , createdAt',
    [
      { ...name, field: 'isAdmin', kind: 'boolean' },
      { ...name, field: 'createdAt', kind: 'instant' },
    ],
  ],
  ['id,name,type,cost,load,isAdmin', ['id', 'name', 'typeId', 'cost', 'load'].map(sortedBy)],
]

function sortedBy(field: string): OrderBy {
  const kind = Object.values(SYMBOLS).find((symbol) => symbol.field === field)?.kind ?? 'string'
  return { field, kind, direction: 'asc' }
}

describe('sort parameter', () => {
  it.each(SORTS)('%j', (text, expected) => {
    expect(parseQuery(`sort by ${text}`, SYMBOLS)).toEqual({ orderBy: expected })
  })

  it.each([
    ['', 'syntax'],
    ['name up', 'syntax'],
    ['name,', 'syntax'],
    [',name', 'syntax'],
    ['name asc desc', 'syntax'],
    ['limit', 'syntax'],
    ['"name"', 'syntax'],
    ['nothing', 'unknown-symbol'],
    ['__proto__', 'syntax'],
    ['constructor', 'unknown-symbol'],
    ['roleAttributes', 'sort'],
    ['tags', 'sort'],
    ['tags.site', 'sort'],
    ['primary.cert.allowed', 'sort'],
    ['services.name', 'sort'],
    ['name,'.repeat(1000), 'limit'],
  ])('%j is refused as %s', (text, kind) => {
    const refusal = expect.objectContaining({ name: 'FilterError', kind })
    expect(() => parseQuery(`sort by ${text}`, SYMBOLS)).toThrow(refusal)
  })
  it('is nothing but a list of fields', async () => {
    const { admin } = await network()
    const sorted = async (by: string) => (await admin.get(`/services?sort=${encodeURIComponent(by)}`)).status
    expect([await sorted('name'), await sorted('name limit 5')]).toEqual([200, 400])
  })
})
