import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { yamlOf } from '../../adapters/tools/explorer/page/what-if/model-file.ts'

it('what is written in a model file is read by a library of YAML as it was', () => {
  const hard = fc.constantFrom(
    'no',
    'Yes',
    'null',
    '~',
    '1e3',
    '0x1F',
    '2027-01-01',
    '- a',
    'a: b',
    '#sales',
    '@id',
    '',
  )
  const text = fc.oneof(hard, fc.string(), fc.string({ unit: 'grapheme' }))
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('any')),
      fc.dictionary(text, tie('any'), { noNullPrototype: true }),
    ),
  })).any
  fc.assert(
    fc.property(value, (one) => {
      expect(parse(yamlOf(one).join('\n'))).toEqual(one)
    }),
  )
})
