import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: the texts that are kept, which change nothing but time.
import { WireTexts } from '../../src/context/wire-texts.ts'
import { KeptLists } from '../../src/http/pipeline/kept-lists.ts'
import { runs } from '../support/property-runs.ts'

const texts = new WireTexts()
const FORMS = Array.from({ length: 6 }, (_, number) => texts.keep({ id: `ü${number}`, text: 'x'.repeat(number * 7) }))
const page = fc.record({ items: fc.array(fc.constantFrom(...FORMS), { maxLength: 6 }), offset: fc.nat(2) })
const atOnce = () => undefined
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

it('a list is answered as it is written, whatever lists were asked for before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(page, { maxLength: 12 }), fc.constantFrom(1, 40, 90, 10_000), async (pages, most) => {
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
    }),
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
