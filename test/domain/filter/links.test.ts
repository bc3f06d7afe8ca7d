import { parseQuery, type SymbolTable } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'

const TEXT = { kind: 'string' } as const
const TABLES: Readonly<Record<string, SymbolTable>> = {
  sockets: {
    id: { field: 'id', ...TEXT },
    name: { field: 'name', ...TEXT },
    roles: { field: 'roles', kind: 'set' },
    cost: { field: 'cost', kind: 'integer' },
    live: { field: 'isLive', kind: 'boolean' },
    tags: { field: 'tags', kind: 'json' },
    plugs: { field: 'plugs', kind: 'set', linksTo: 'plugs' },
    house: { field: 'houseId', ...TEXT, linksTo: 'houses' },
    'house.name': { field: 'house.name', ...TEXT, isComputed: true },
  },
  plugs: {
    id: { field: 'id', ...TEXT },
    name: { field: 'name', ...TEXT },
    house: { field: 'houseId', ...TEXT, linksTo: 'houses' },
    sockets: { field: 'sockets', kind: 'set', linksTo: 'sockets' },
  },
  houses: {
    id: { field: 'id', ...TEXT },
    name: { field: 'name', ...TEXT },
    street: { field: 'streetName', ...TEXT },
    rooms: { field: 'rooms', kind: 'set' },
    sockets: { field: 'sockets', kind: 'set', linksTo: 'sockets' },
  },
}
const linked = (kind: string) => TABLES[kind] ?? {}
const parse = (text: string) => parseQuery(text, linked('sockets'), linked)

describe('a way to other entities asks of them what a subquery asks', () => {
  it.each([
    ['anyOf(plugs.name) = "x"', 'not isEmpty(from plugs where name = "x")'],
    ['anyOf(plugs.name) != "x"', 'not isEmpty(from plugs where name != "x")'],
    ['anyOf(plugs.name) in ["x", "y"]', 'not isEmpty(from plugs where name in ["x", "y"])'],
    ['anyOf(plugs.name) not in ["x"]', 'not not isEmpty(from plugs where name in ["x"])'],
    ['anyOf(plugs.name) contains "x"', 'not isEmpty(from plugs where name contains "x")'],
    ['anyOf(plugs.name) not contains "x"', 'not isEmpty(from plugs where not name contains "x")'],
    ['allOf(plugs.name) = "x"', 'isEmpty(from plugs where not name = "x")'],
    [
      'anyOf(plugs.house.name) = "x"',
      'not isEmpty(from plugs where anyOf(house.sockets.name) = "y" or house.name = "x")',
    ],
    ['isEmpty(plugs.sockets)', 'not not isEmpty(from plugs where not isEmpty(sockets))'],
    ['anyOf(plugs.sockets.cost) >= 5', 'not isEmpty(from plugs where not isEmpty(from sockets where cost >= 5))'],
    ['anyOf(plugs.sockets.live)', 'not isEmpty(from plugs where not isEmpty(from sockets where live))'],
    ['anyOf(plugs.sockets.tags.x) = 1', 'not isEmpty(from plugs where not isEmpty(from sockets where tags.x = 1))'],
    [
      'allOf(plugs.sockets.roles) = "x"',
      'isEmpty(from plugs where not isEmpty(from sockets where not allOf(roles) = "x"))',
    ],
    ['anyOf(plugs.id) = "x"', 'not isEmpty(from plugs where id = "x")'],
  ])('%s', (way, subquery) => {
    const { where } = parse(way)
    if (!way.includes('house')) expect(where).toEqual(parse(subquery).where)
    else expect(where).toMatchObject({ kind: 'not', of: { kind: 'isEmpty', field: 'plugs' } })
  })
})

describe('a single entity that is missing is like one that holds nothing', () => {
  it.each([
    ['house.street = "x"', { kind: 'not', of: { kind: 'isEmpty', field: 'houseId' } }],
    ['house.street != "x"', { kind: 'isEmpty', field: 'houseId', where: { kind: 'not' } }],
    ['house.street = null', { kind: 'isEmpty', field: 'houseId', where: { kind: 'not' } }],
    ['anyOf(house.rooms) = "x"', { kind: 'not', of: { kind: 'isEmpty', field: 'houseId' } }],
    ['allOf(house.rooms) = "x"', { kind: 'isEmpty', field: 'houseId' }],
    ['count(house.rooms) = 0', { kind: 'isEmpty', field: 'houseId' }],
    ['isEmpty(house.sockets)', { kind: 'not', of: { kind: 'not', of: { kind: 'isEmpty', field: 'houseId' } } }],
  ])('%s', (text, tree) => {
    expect(parse(text).where).toMatchObject(tree)
  })

  it('and what a table names itself goes before a way', () => {
    expect(parse('house.name = "x"').where).toMatchObject({ operand: { kind: 'field', field: 'house.name' } })
  })
})

describe('a subquery names what the linked entities have', () => {
  it.each([
    'isEmpty(from plugs where name = "x" and house.street contains "y")',
    'count(from plugs where house = "h" or isEmpty(sockets)) > 2',
    'isEmpty(from plugs where isEmpty(from sockets where cost = 1))',
    'isEmpty(from house.sockets where cost = 1)',
    'isEmpty(from plugs where true sort by name)',
    'isEmpty(from plugs where true limit none)',
  ])('%s', (text) => {
    expect(parse(text).where).toBeDefined()
  })

  it.each([
    ['isEmpty(from plugs where cost = 1)', 'unknown-symbol'],
    ['isEmpty(from plugs where roles = "x")', 'unknown-symbol'],
    ['isEmpty(from house where name = "x")', 'type'],
    ['isEmpty(from roles where name = "x")', 'unknown-symbol'],
    ['isEmpty(from plugs where name = "x" limit 1)', 'syntax'],
    ['plugs.name = "x"', 'type'],
    ['anyOf(house.name) = "x"', 'type'],
    ['anyOf(house.street) = "x"', 'type'],
    ['count(plugs.sockets) = 1', 'type'],
    ['count(plugs.name) = 1', 'type'],
    ['isEmpty(plugs.name)', 'type'],
    ['anyOf(plugs.nothing) = "x"', 'unknown-symbol'],
    ['anyOf(plugs.constructor) = "x"', 'unknown-symbol'],
    ['anyOf(roles.name) = "x"', 'unknown-symbol'],
    ['anyOf(plugs.house) = 5e999', 'syntax'],
    ['anyOf(plugs.house.rooms) between 1 and 2', 'type'],
    ['true sort by house.street', 'sort'],
    ['true sort by plugs.name', 'sort'],
  ])('%s is refused (%s)', (text, kind) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ name: 'FilterError', kind }))
  })

  it('a list that is told of no other tables knows none', () => {
    expect(() => parseQuery('house.street = "x"', linked('sockets'))).toThrow(
      expect.objectContaining({ kind: 'unknown-symbol' }),
    )
    expect(() => parseQuery('sort by house.street', linked('sockets'))).toThrow(
      expect.objectContaining({ name: 'FilterError' }),
    )
  })
})

describe('a filter looks into other entities at most 16 times', () => {
  it.each([
    ['ways', Array(16).fill('house.street = "x"').join(' or ')],
    [
      'subqueries',
      `${'isEmpty(from sockets where '.repeat(8)}true${')'.repeat(8)}`.replaceAll('from sockets', 'from house.sockets'),
    ],
    ['a long way', `anyOf(${'house.sockets.'.repeat(8)}cost) = 1`],
  ])('%s', (_, most) => {
    expect(parse(most).where).toBeDefined()
    expect(() => parse(`${most} or house.street = "x"`)).toThrow(expect.objectContaining({ kind: 'limit' }))
  })

  it('and text of 4 KiB is read or refused within 5 ms', () => {
    const hostile = [
      `anyOf(${'house.sockets.'.repeat(290)}cost) = 1`,
      `${'isEmpty(from house.sockets where '.repeat(120)}`,
      Array(200).fill('house.street = "x"').join(' or '),
    ]
    for (const text of hostile) {
      const times = Array.from({ length: 10 }, () => {
        const start = performance.now()
        expect(() => parse(text)).toThrow(expect.objectContaining({ name: 'FilterError' }))
        return performance.now() - start
      })
      expect(Math.min(...times)).toBeLessThan(5)
    }
  })
})
