import { equals, type Filter, ids, isIn, type Operand, parseQuery } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { NOON, SYMBOLS } from './gadgets.ts'

const field = (name: string): Operand => ({ kind: 'field', field: name })
const anyOf: Operand = { kind: 'anyOf', field: 'roleAttributes' }
const allOf: Operand = { kind: 'allOf', field: 'roleAttributes' }
const contains = (operand: Operand, text: string, foldCase = false): Filter => {
  return { kind: 'contains', operand, text, foldCase }
}
const not = (of: Filter): Filter => ({ kind: 'not', of })

const OPERATIONS: readonly [string, Filter][] = [
  ['name = "x"', equals('name', 'x')],
  ['name="x"', equals('name', 'x')],
  ['type = "x"', equals('typeId', 'x')],
  ['name = 5.50', equals('name', '5.5')],
  ['name < 1e3', { kind: 'compare', operand: field('name'), operator: '<', value: '1000' }],
  ['name in [5, 5.0, 50]', isIn('name', ['5', '50'])],
  ['anyOf(roleAttributes) = 7', { kind: 'compare', operand: anyOf, operator: '=', value: '7' }],
  ['name = null', equals('name', null)],
  ['name != NULL', { kind: 'compare', operand: field('name'), operator: '!=', value: null }],
  ['name < "x"', { kind: 'compare', operand: field('name'), operator: '<', value: 'x' }],
  ['cost<=-1', { kind: 'compare', operand: field('cost'), operator: '<=', value: -1 }],
  ['cost > 1.5', { kind: 'compare', operand: field('cost'), operator: '>', value: 1.5 }],
  ['load >= 1', { kind: 'compare', operand: field('load'), operator: '>=', value: 1 }],
  ['isAdmin', equals('isAdmin', true)],
  ['isAdmin = false', equals('isAdmin', false)],
  ['isAdmin != True', { kind: 'compare', operand: field('isAdmin'), operator: '!=', value: true }],
  ['createdAt = datetime(2024-05-01T12:00:00Z)', equals('createdAt', NOON)],
  ['name in ["a", "b" ,"a"]', isIn('name', ['a', 'b'])],
  ['id in [ "a","b" ]', ids(['a', 'b'])],
  ['cost IN [1]', isIn('cost', [1])],
  ['createdAt in [datetime( 2024-05-01T12:00:00Z )]', isIn('createdAt', [NOON])],
  ['name not in ["a"]', not(isIn('name', ['a']))],
  ['name NOT\tIN ["a"]', not(isIn('name', ['a']))],
  ['cost not  between 1 and 2', not({ kind: 'between', operand: field('cost'), from: 1, to: 2 })],
  ['name contains "x"', contains(field('name'), 'x')],
  ['name contains 7', contains(field('name'), '7')],
  ['cost contains "7"', contains(field('cost'), '7')],
  ['name not contains "x"', not(contains(field('name'), 'x'))],
  ['name iContains "x"', contains(field('name'), 'x', true)],
  ['name not   icontains "x"', not(contains(field('name'), 'x', true))],
  ['anyOf(roleAttributes) = "x"', { kind: 'compare', operand: anyOf, operator: '=', value: 'x' }],
  ['ALLOF( roleAttributes )!="x"', { kind: 'compare', operand: allOf, operator: '!=', value: 'x' }],
  [
    'anyOf(services.name) = "x"',
    { kind: 'compare', operand: { ...anyOf, field: 'serviceNames' }, operator: '=', value: 'x' },
  ],
  ['anyOf(roleAttributes)contains "x"', contains(anyOf, 'x')],
  ['anyOf(roleAttributes) not contains "x"', not(contains(allOf, 'x'))],
  ['allOf(roleAttributes) not icontains "x"', not(contains(anyOf, 'x', true))],
  ['anyOf(roleAttributes) not in ["x"]', not({ kind: 'in', operand: anyOf, values: new Set(['x']) })],
  ['isEmpty(roleAttributes)', { kind: 'isEmpty', field: 'roleAttributes' }],
  ['isempty( roleAttributes )', { kind: 'isEmpty', field: 'roleAttributes' }],
  [
    'isEmpty(from roleAttributes where id = "x")',
    { kind: 'isEmpty', field: 'roleAttributes', where: equals('id', 'x') },
  ],
  ['isEmpty(FROM roleAttributes WHERE true)', { kind: 'isEmpty', field: 'roleAttributes' }],
  [
    'count(roleAttributes) between 1 and 3',
    { kind: 'between', operand: { kind: 'count', field: 'roleAttributes' }, from: 1, to: 3 },
  ],
  [
    'count( from roleAttributes where id contains "x" sort by id limit none ) = 1',
    {
      kind: 'compare',
      operand: { kind: 'count', field: 'roleAttributes', where: contains(field('id'), 'x') },
      operator: '=',
      value: 1,
    },
  ],
  [
    'tags.my-key = true',
    { kind: 'compare', operand: { kind: 'json', field: 'tags', path: ['my-key'] }, operator: '=', value: true },
  ],
  [
    'tags.live',
    { kind: 'compare', operand: { kind: 'json', field: 'tags', path: ['live'] }, operator: '=', value: true },
  ],
  [
    'tags.not.in in [1]',
    { kind: 'in', operand: { kind: 'json', field: 'tags', path: ['not', 'in'] }, values: new Set([1]) },
  ],
  [
    'primary.cert.allowed',
    {
      kind: 'compare',
      operand: { kind: 'json', field: 'primary', path: ['cert', 'allowed'] },
      operator: '=',
      value: true,
    },
  ],
]

describe('an operation becomes plain data about stored fields', () => {
  it.each(OPERATIONS)('%s', (text, expected) => {
    expect(parseQuery(text, SYMBOLS)).toEqual({ where: expected })
  })
})
