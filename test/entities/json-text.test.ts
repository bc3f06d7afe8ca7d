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

it('a form that is put together of the same two again is the same, and another of each is not', () => {
  const base = keepText({ id: 'a' })
  const rights = Array.from({ length: 6 }, (_, number) => keepText({ rights: [number] }))
  for (let time = 0; time < 2; time += 1) {
    for (const [number, members] of rights.entries()) {
      const form = composed(base, members)
      expect(composed(base, members)).toBe(form)
      expect(jsonText(form)).toBe(`{"id":"a","rights":[${number}]}`)
    }
  }
  const [members = {}] = rights
  expect(jsonText(composed(keepText({ id: 'b' }), members))).toBe('{"id":"b","rights":[0]}')
})
