import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createAjvJsonSchema } from '../../src/platform/json-schema/ajv-json-schema.ts'
import { FORMATS } from '../../src/platform/json-schema/json-schema-formats.ts'

const jsonSchema = createAjvJsonSchema()
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const unique = { type: 'array', uniqueItems: true }
const circle = object(
  { a: { $ref: '#/definitions/a' } },
  { definitions: { a: { $ref: '#/definitions/b' }, b: { $ref: '#/definitions/a' } } },
)

/** Definitions of which each asks twice for the next. */
function doubling(levels: number) {
  const both = (level: number) => {
    const next = level === levels ? { type: 'string' } : { $ref: `#/definitions/d${level + 1}` }
    return { anyOf: [next, next] }
  }
  const definitions = Object.fromEntries(Array.from({ length: levels }, (_, at) => [`d${at + 1}`, both(at + 1)]))
  return object({ a: { $ref: '#/definitions/d1' } }, { definitions })
}

function nested(levels: number): Record<string, unknown> {
  return levels === 0 ? { type: 'object' } : object({ a: nested(levels - 1) })
}

describe('schemas that are refused', () => {
  it.each([
    ['a remote reference', object({ a: { $ref: 'https://example.org/x.json' } }), "can't resolve reference"],
    ['a file', object({ a: { $ref: 'file:///etc/passwd' } }), "can't resolve reference"],
    ['a dangling reference', object({ a: { $ref: '#/definitions/b' } }), "can't resolve reference"],
    ['a reference to the meta schema', object({ a: { $ref: 'http://json-schema.org/draft-07/schema#' } }), "can't"],
    ['a reference to itself', object({ a: { $ref: '#' } }), 'lead back to themselves'],
    ['references in a circle', circle, 'lead back to themselves'],
    ['references that double 15 times', doubling(15), 'references resolved'],
    ['references that double 40 times', doubling(40), 'nested deeper'],
    ['a look-ahead, which has no linear time', object({ a: { pattern: '(?=a)b' } }), 'invalid'],
    ['a back reference', object({ a: { pattern: '(a)\\1' } }), 'invalid'],
    ['an impossible pattern', object({ a: { pattern: '(' } }), 'missing'],
    ['a bomb of repetitions', object({ a: { pattern: '((a{900}){900}){900}' } }), 'repeat'],
    ['too much text', object({ a: { description: 'x'.repeat(70_000) } }), 'longer than'],
    ['deep nesting', nested(100), 'nested deeper'],
    ['an asynchronous schema', object({}, { $async: true }), '$async'],
    ['a keyword of the wrong type', object({ a: { minimum: 'one' } }), 'minimum'],
  ])('%s', async (_what, schema, reason) => {
    expect(await jsonSchema.problemOf(schema)).toContain(reason)
  })
})

describe('schemas that are taken', () => {
  it.each([
    ['draft 4 by its keywords', { id: 'urn:example:a', ...object({ b: { minimum: 1, exclusiveMinimum: true } }) }],
    ['a later draft', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', $defs: { a: {} } }],
    ['draft 4 by name', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }],
    ['an unknown draft', { $schema: 'https://example.org/mine', type: 'object' }],
    ['unknown keywords and formats', object({ a: { type: 'string', format: 'idn-hostname', shade: 'blue' } })],
    ['an id that stands for the meta schema', { $id: 'http://json-schema.org/draft-07/schema#', type: 'object' }],
    ['references within the document', object({ a: { $ref: '#/definitions/b' } }, { definitions: { b: {} } })],
  ])('%s', async (_what, schema) => {
    expect(await jsonSchema.problemOf(schema)).toBeUndefined()
    expect(await jsonSchema.problemOf(schema)).toBeUndefined()
    expect(await jsonSchema.violationOf(schema, { a: 'anything at all' })).toBeUndefined()
  })

  it('a bound of draft 4 is exclusive where it says so', async () => {
    const { a } = { a: { minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false } }
    const schema = object({ list: { type: 'array', items: { allOf: [a] } }, exclusiveMinimum: true })
    expect(
      await jsonSchema.violationOf(schema, { list: [2, 3], exclusiveMinimum: 'a name like others' }),
    ).toBeUndefined()
    expect(await jsonSchema.violationOf(schema, { list: [1] })).toMatchObject({ path: ['list', '0'] })
    expect(await jsonSchema.violationOf(schema, { list: [4] })).toMatchObject({ path: ['list', '0'] })
  })

  it('a name that every object inherits is missing where nobody wrote it', async () => {
    const schema = object({ constructor: { type: 'string' }, toString: {} }, { required: ['constructor'] })
    expect(await jsonSchema.violationOf(schema, {})).toMatchObject({ requirement: 'constructor is required' })
    expect(await jsonSchema.violationOf(schema, { constructor: 'x' })).toBeUndefined()
    expect(await jsonSchema.violationOf(object({ valueOf: { type: 'string' } }), { a: 1 })).toBeUndefined()
  })

  it('a huge list of values is not repeated in what it says', async () => {
    const huge = object({ a: { enum: Array.from({ length: 9_000 }, (_, index) => index) } })
    const violation = await jsonSchema.violationOf(huge, { a: 'x' })
    expect(violation?.requirement).toMatch(/^must be one of \[0,1,2,/)
    expect(violation?.requirement.length).toBeLessThan(300)
  })

  it('two with the same id do not disturb each other', async () => {
    const of = (type: string) => ({ $id: 'urn:example:same', ...object({ a: { type } }) })
    expect(await jsonSchema.violationOf(of('string'), { a: 'x' })).toBeUndefined()
    expect(await jsonSchema.violationOf(of('integer'), { a: 1 })).toBeUndefined()
    expect(await jsonSchema.violationOf(of('string'), { a: 1 })).toMatchObject({ path: ['a'], value: 1 })
  })
})

describe('values', () => {
  it.each([
    ['a missing member', object({}, { required: ['b'] }), {}, [], 'b is required'],
    [
      'a member of a member',
      object({ a: object({ b: { type: 'integer' } }) }),
      { a: { b: 'x' } },
      ['a', 'b'],
      'integer',
    ],
    ['a member with a slash', object({ 'a/b~c': { type: 'integer' } }), { 'a/b~c': 'x' }, ['a/b~c'], 'integer'],
    [
      'an element twice, in another order',
      object({ a: unique }),
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
      ['a'],
      'twice',
    ],
    ['an address that is none', object({ a: { format: 'ipv4' } }), { a: '1.2.3' }, ['a'], 'ipv4'],
    ['a member whose pattern fails', object({ a: { pattern: '^é+$' } }), { a: 'e' }, ['a'], 'pattern'],
  ])('%s', async (_what, schema, value, path, requirement) => {
    const violation = await jsonSchema.violationOf(schema, value)
    expect(violation).toMatchObject({ path, requirement: expect.stringContaining(requirement) })
  })

  it('a pattern that backtracks elsewhere takes linear time', async () => {
    const schema = object({ a: { pattern: '^(a+)+$' } })
    const started = performance.now()
    expect(await jsonSchema.violationOf(schema, { a: `${'a'.repeat(100_000)}!` })).toMatchObject({ path: ['a'] })
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  it('ten thousand distinct elements are compared in linear time', async () => {
    const elements = Array.from({ length: 10_000 }, (_, low) => ({ low, high: low }))
    const started = process.cpuUsage()
    expect(await jsonSchema.violationOf(object({ a: unique }), { a: elements })).toBeUndefined()
    const { user, system } = process.cpuUsage(started)
    expect((user + system) / 1000).toBeLessThan(1000)
  })

  it('what would take too long is refused', async () => {
    const heavy = object({ a: { pattern: '(a{30}){30}b' } }, { description: 'x'.repeat(2000) })
    expect(await jsonSchema.violationOf(heavy, { a: 'a'.repeat(500_000) })).toMatchObject({ path: [] })
  })
})

const TEXTS: readonly (readonly [format: string, valid: readonly string[], invalid: readonly string[]])[] = [
  ['date', ['2024-02-29'], ['', '2023-02-29', '2023-13-01', '2024-1-1']],
  [
    'time',
    ['12:00:00Z', '12:00:00.5-03:30', '23:59:60Z', '00:59:60+01:00'],
    ['12:00:00', '12:59:60Z', '12:00:00+24:00', '24:00:00Z'],
  ],
  [
    'date-time',
    ['2024-01-01T00:00:00Z', '2024-01-01t00:00:00z', '2024-01-01 00:00:00Z'],
    ['2024-01-01T00:00:00', '2023-02-29T00:00:00Z', '2024-01-01'],
  ],
  ['hostname', ['a.b', 'a.', `${'x'.repeat(63)}.com`], ['', 'a..b', '-a', 'a-', 'x'.repeat(64)]],
  ['email', ['a@b.c', 'a.b@c-d.ef'], ['a@b', 'a b@c.de', 'a@b@c.de', '@b.cd', '.a@b.cd']],
  ['ipv4', ['1.2.3.4'], ['1.2.3', '256.1.1.1', '01.2.3.4']],
  ['ipv6', ['::1', '::ffff:1.2.3.4'], ['1::2::3', 'fe80::1%eth0']],
  [
    'uri',
    ['http://a.b:80/c?d#e', 'urn:x:y', 'http://[::1]/', 'a:b'],
    ['http:', '/x', 'x y', 'http://a.b/\u00e9', 'a:%zz', 'http://a#b#c'],
  ],
  ['uri-reference', ['', '/x', '//h/p', '?q', '#f', 'http://[::1]/'], ['%zz', 'a\\b', '[a', 'x y']],
  ['uri-template', ['{a}', 'a{?b,c*}d', 'x:{y:3}'], ['{', '{a', '{a:0}', 'x y']],
  ['uuid', ['123e4567-e89b-12d3-a456-426614174000', 'urn:uuid:123e4567-e89b-12d3-a456-426614174000'], ['123e4567']],
  ['regex', ['a+', '{a}'], ['(', '[a', '\\']],
  ['json-pointer', ['', '/a/~0~1'], ['a', '/a~', '/~2']],
  ['relative-json-pointer', ['0', '1/a', '0#'], ['01', '/a', '']],
]

async function isInFormat(format: string, text: string): Promise<boolean> {
  return (await jsonSchema.violationOf({ type: 'string', format }, text)) === undefined
}

async function accepted(format: string, texts: readonly string[]): Promise<readonly string[]> {
  const judged = await Promise.all(texts.map(async (text) => ((await isInFormat(format, text)) ? [text] : [])))
  return judged.flat()
}

describe('formats of configuration schemas', () => {
  it('are those that this table names', () => {
    expect([...FORMATS].sort()).toEqual(TEXTS.map(([format]) => format).sort())
  })

  it.each(TEXTS)('%s takes %j and refuses %j', async (format, valid, invalid) => {
    expect(await accepted(format, valid)).toEqual(valid)
    expect(await accepted(format, invalid)).toEqual([])
  })

  it('lets text pass that is in a format of no name here', async () => {
    expect(await isInFormat('idn-hostname', '-')).toBe(true)
    expect(await isInFormat('url', 'x y')).toBe(true)
  })

  it.each(FORMATS)('%s judges text of any length in linear time', async (format) => {
    const length = 50_000
    const texts = ['a-', 'a.', 'a:', '1:', '%2', '~0', '{a', '@a'].flatMap((pair) => {
      const long = pair.repeat(length / 2)
      return [`${long} `, `http://${long} `, `http://[${long} `, `a@${long} `, `/${long}~`]
    })
    await isInFormat(format, '')
    const from = process.cpuUsage()
    for (const text of [...texts, `${'/'.repeat(length)} `, `${'0'.repeat(length)} `]) await isInFormat(format, text)
    // A format that backtracks, as `url` of the library, takes 2 seconds for one of them.
    const { user, system } = process.cpuUsage(from)
    expect((user + system) / 1000).toBeLessThan(1500)
  })
})
