import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createAjvJsonSchema } from '../../src/platform/json-schema/ajv-json-schema.ts'
import { FORMATS } from '../../src/platform/json-schema/json-schema-formats.ts'

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

const schemas = createAjvJsonSchema()

async function isInFormat(format: string, text: string): Promise<boolean> {
  return (await schemas.violationOf({ type: 'string', format }, text)) === undefined
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
