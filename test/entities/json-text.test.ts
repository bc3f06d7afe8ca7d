import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  composed,
  jsonText,
  keepText,
  keptBytes,
  madeWith,
  variantOf,
} from '../../src/engine/records/wire-form/json-text.ts'
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

it('the bytes of a form are those of its text, once for all, and only where its text is kept', () => {
  fc.assert(
    fc.property(members, members, (base, rights) => {
      const form = composed(keepText(base), keepText(rights))
      const bytes = keptBytes(form)
      expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)).toBe(jsonText(form))
      expect(keptBytes(form)).toBe(bytes)
    }),
    runs(200),
  )
  expect(keptBytes({ id: 'a' })).toBeUndefined()
  expect(keptBytes('a')).toBeUndefined()
})

it('a form is made once while it is made of the same, unless it is long', () => {
  const members = keepText({ rights: [] })
  const sources = [{ id: 'a' }, { id: 'b' }, undefined]
  const form = madeWith(members, sources, () => ({ id: 'a', ...members }))
  expect(madeWith(members, [...sources], () => ({ id: 'another', ...members }))).toBe(form)
  const other = madeWith(members, [sources[0], { id: 'b' }, undefined], () => ({ id: 'other', ...members }))
  expect(jsonText(other)).toBe('{"id":"other","rights":[]}')
  const long = { id: 'x'.repeat(10_000) }
  expect(madeWith(members, [long], () => ({ ...long }))).not.toBe(madeWith(members, [long], () => ({ ...long })))
  expect(madeWith({ rights: [] }, sources, () => ({ id: 'new' }))).toEqual({ id: 'new' })
})

it('a variant is made once of a form whose text is kept', () => {
  const kept = keepText({ id: 'a', _links: 'far' })
  const near = (form: object) => ({ ...form, _links: 'near' })
  const variant = variantOf(kept, near)
  expect(variantOf(kept, near)).toBe(variant)
  expect(jsonText(variant)).toBe('{"id":"a","_links":"near"}')
  expect(variantOf(kept, (form: object) => ({ ...form, _links: 'here' }))).toEqual({ id: 'a', _links: 'here' })
  expect(variantOf({ id: 'b' }, near)).toEqual({ id: 'b', _links: 'near' })
})
