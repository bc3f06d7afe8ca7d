import fc from 'fast-check'
import { expect, it } from 'vitest'
import { composed, jsonText, keepText } from '../../src/engine/records/wire-form/json-text.ts'
import { runs } from '../support/property-runs.ts'

const instant = fc.date({ noInvalidDate: true })
const value = fc.oneof(fc.jsonValue(), instant, fc.constant(undefined))
const members = fc.dictionary(fc.string({ maxLength: 3 }), value, { maxKeys: 4 })
const list = fc.array(members, { maxLength: 4 })

it('a form that was put together writes what JSON.stringify writes, however often it is asked', () => {
  fc.assert(
    fc.property(members, members, list, list, fc.boolean(), (base, more, kept, elements, isKept) => {
      const shared = isKept ? keepText(base) : base
      const form = composed(shared, { ...more, kept: keepText(kept), elements: elements.map(keepText) })
      const plain = { ...base, ...more, kept, elements }
      expect(form).toEqual(plain)
      for (let time = 0; time < 2; time += 1)
        expect(JSON.parse(jsonText(form))).toEqual(JSON.parse(JSON.stringify(plain)))
      expect(JSON.parse(jsonText(composed(shared, {})))).toEqual(JSON.parse(JSON.stringify(base)))
    }),
    runs(500),
  )
})

it('a member that stands in the base as well is written once, as it is in the form', () => {
  expect(jsonText(composed(keepText({ id: 'a', name: 'old' }), { name: 'new' }))).toBe('{"id":"a","name":"new"}')
})
