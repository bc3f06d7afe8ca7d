import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
// Internals: the texts that are kept, which change nothing but time.
import { WireTexts } from '../../src/context/wire-texts.ts'
import { KeptLists } from '../../src/http/pipeline/kept-lists.ts'
import { runs } from '../support/property-runs.ts'

const texts = new WireTexts()
const instant = fc.date({ noInvalidDate: true })
const value = fc.oneof(fc.jsonValue(), instant, fc.constant(undefined))
const members = fc.dictionary(fc.string({ maxLength: 3 }), value, { maxKeys: 4 })
const list = fc.array(members, { maxLength: 4 })

it('a form that was put together writes what JSON.stringify writes, however often it is asked', () => {
  fc.assert(
    fc.property(members, members, list, list, fc.boolean(), (base, more, kept, elements, isKept) => {
      const shared = isKept ? texts.keep(base) : base
      const form = texts.composed(shared, {
        ...more,
        kept: texts.keep(kept),
        elements: elements.map((element) => texts.keep(element)),
      })
      const plain = { ...base, ...more, kept, elements }
      expect(form).toEqual(plain)
      for (let time = 0; time < 2; time += 1)
        expect(JSON.parse(texts.jsonText(form))).toEqual(JSON.parse(JSON.stringify(plain)))
      expect(JSON.parse(texts.jsonText(texts.composed(shared, {})))).toEqual(JSON.parse(JSON.stringify(base)))
    }),
    runs(500),
  )
})

it('a member that stands in the base as well is written once, as it is in the form', () => {
  expect(texts.jsonText(texts.composed(texts.keep({ id: 'a', name: 'old' }), { name: 'new' }))).toBe(
    '{"id":"a","name":"new"}',
  )
})

it('a form that is put together of the same two again is the same, and another of each is not', () => {
  const base = texts.keep({ id: 'a' })
  const rights = Array.from({ length: 6 }, (_, number) => texts.keep({ rights: [number] }))
  for (let time = 0; time < 2; time += 1) {
    for (const [number, members] of rights.entries()) {
      const form = texts.composed(base, members)
      expect(texts.composed(base, members)).toBe(form)
      expect(texts.jsonText(form)).toBe(`{"id":"a","rights":[${number}]}`)
    }
  }
  const [members = {}] = rights
  expect(texts.jsonText(texts.composed(texts.keep({ id: 'b' }), members))).toBe('{"id":"b","rights":[0]}')
})

it('the bytes of a form are those of its text, once for all, and only where its text is kept', () => {
  fc.assert(
    fc.property(members, members, (base, rights) => {
      const form = texts.composed(texts.keep(base), texts.keep(rights))
      const bytes = texts.keptBytes(form)
      expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)).toBe(texts.jsonText(form))
      expect(texts.keptBytes(form)).toBe(bytes)
    }),
    runs(200),
  )
  expect(texts.keptBytes({ id: 'a' })).toBeUndefined()
  expect(texts.keptBytes('a')).toBeUndefined()
})

it('a form is made once while it is made of the same, unless it is long', () => {
  const members = texts.keep({ rights: [] })
  const sources = [{ id: 'a' }, { id: 'b' }, undefined]
  const form = texts.madeWith(members, sources, () => ({ id: 'a', ...members }))
  expect(texts.madeWith(members, [...sources], () => ({ id: 'another', ...members }))).toBe(form)
  const other = texts.madeWith(members, [sources[0], { id: 'b' }, undefined], () => ({ id: 'other', ...members }))
  expect(texts.jsonText(other)).toBe('{"id":"other","rights":[]}')
  const long = { id: 'x'.repeat(10_000) }
  expect(texts.madeWith(members, [long], () => ({ ...long }))).not.toBe(
    texts.madeWith(members, [long], () => ({ ...long })),
  )
  expect(texts.madeWith({ rights: [] }, sources, () => ({ id: 'new' }))).toEqual({ id: 'new' })
})

it('a variant is made once of a form whose text is kept', () => {
  const kept = texts.keep({ id: 'a', _links: 'far' })
  const near = (form: object) => ({ ...form, _links: 'near' })
  const variant = texts.variantOf(kept, near)
  expect(texts.variantOf(kept, near)).toBe(variant)
  expect(texts.jsonText(variant)).toBe('{"id":"a","_links":"near"}')
  expect(texts.variantOf(kept, (form: object) => ({ ...form, _links: 'here' }))).toEqual({ id: 'a', _links: 'here' })
  expect(texts.variantOf({ id: 'b' }, near)).toEqual({ id: 'b', _links: 'near' })
})

it('of two engines each keeps its own, and counts it', () => {
  const [one, other] = [new WireTexts(), new WireTexts()]
  const form = one.keep({ id: 'a' })
  expect(one.jsonText(form)).toBe(one.jsonText(form))
  expect(one.size()).toEqual({ texts: 1, characters: 10 })
  expect(other.keptBytes(form)).toBeUndefined()
  expect(other.size()).toEqual({ texts: 0, characters: 0 })
})

it('turned off, it keeps nothing and writes the same', () => {
  WireTexts.isOff = true
  onTestFinished(() => {
    WireTexts.isOff = process.env.PORTCULLIS_KEPT_TEXTS === 'off'
  })
  const off = new WireTexts()
  const [base, rights] = [off.keep({ id: 'a' }), off.keep({ rights: [] })]
  const form = off.composed(base, rights)
  expect(off.composed(base, rights)).not.toBe(form)
  expect(off.jsonText(form)).toBe('{"id":"a","rights":[]}')
  expect(off.keptBytes(base)).toBeUndefined()
  let made = 0
  for (let time = 0; time < 2; time += 1) off.made('online', base, () => (made += 1))
  expect(made).toBe(2)
  expect(off.size()).toEqual({ texts: 0, characters: 0 })
})

const FORMS = Array.from({ length: 6 }, (_, number) => texts.keep({ id: `ü${number}`, text: 'x'.repeat(number * 7) }))
const page = fc.record({ items: fc.array(fc.constantFrom(...FORMS), { maxLength: 6 }), offset: fc.nat(2) })
const atOnce = () => undefined
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

it('a list is answered as it is written, whatever lists were asked for before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(page, { maxLength: 12, size: 'max' }),
      fc.constantFrom(1, 40, 90, 10_000),
      async (pages, most) => {
        const lists = new KeptLists(texts)
        for (const { items, offset } of pages) {
          const tailOf = (count: number) => `],"meta":{"limit":${count},"offset":${offset}}}\n`
          const bytes = await lists.bytes(items, most, tailOf, atOnce)
          const { data, meta } = JSON.parse(decoder.decode(bytes))
          expect(data).toEqual(items.slice(0, data.length))
          expect(meta).toEqual({ limit: data.length, offset })
          // One at least, no more than there is room for, and none left out that there is room for.
          const sizeOf = (count: number) =>
            Buffer.byteLength(
              items
                .slice(0, count)
                .map((item) => `${JSON.stringify(item)},`)
                .join(''),
            )
          expect(data.length <= 1 || sizeOf(data.length) <= most).toBe(true)
          expect(data.length === items.length || sizeOf(data.length + 1) > most).toBe(true)
          expect(await lists.bytes([...items], most, tailOf, atOnce)).toBe(bytes)
        }
      },
    ),
    runs(200),
  )
})

it('a list with an item that is written for its answer alone is not put together of bytes', async () => {
  const items = [...FORMS, { id: 'own' }]
  expect(await new KeptLists(texts).bytes(items, 10_000, () => ']}', atOnce)).toBeUndefined()
})

it('a long list is put together anew each time', async () => {
  const lists = new KeptLists(texts)
  const items = Array.from({ length: 4 }, () => texts.keep({ text: 'x'.repeat(100_000) }))
  const write = () => lists.bytes(items, 1_000_000, () => ']}', atOnce)
  const [first, second] = [await write(), await write()]
  expect(first).toEqual(second)
  expect(first).not.toBe(second)
})
