import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { isDistinguished, readSequence, writeDer } from '../../src/platform/x509/der.ts'

import { ecdsaFromDer, ecdsaToDer } from '../../src/platform/x509/public-key.ts'

const octets = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
const long = (length: number) => writeDer(0x04, new Uint8Array(length))

describe('the distinguished encoding', () => {
  it.each([
    ['an empty sequence', '30 00'],
    ['a sequence of a number and nothing', '30 05 020101 0500'],
    ['zero', '02 01 00'],
    ['a positive number with a high bit', '02 02 0080'],
    ['a negative number', '02 01 80'],
    ['true', '01 01 ff'],
    ['bits of which some are unused', '03 02 0780'],
    ['an object identifier of several octets', '06 03 2a8648'],
    ['a time', '17 0d 3236303130313030303030305a'],
    ['a context-specific value', '86 01 ff'],
    ['what a context-specific element is made of', 'a0 03 020102'],
  ])('has %s', (_, hex) => {
    expect(isDistinguished(octets(hex))).toBe(true)
  })

  it('has lengths of one to three octets', () => {
    for (const length of [0, 127, 128, 255, 256, 65_535, 65_536]) expect(isDistinguished(long(length))).toBe(true)
  })

  it.each([
    ['nothing', ''],
    ['two elements', '0500 0500'],
    ['something after the element', '0500 00'],
    ['an element that ends too late', '30 03 0500'],
    ['an element within that ends too late', '30 03 020201'],
    ['an element within without a length', '30 01 02'],
    ['an indefinite length', '30 80 0500 0000'],
    ['a length that could be shorter', '04 81 01 00'],
    ['a length with a leading zero', '04 82 00 80'.concat('00'.repeat(128))],
    ['a length that is cut', '04 82 01'],
    ['a length of four octets', '04 84 00000001 00'],
    ['a tag of two octets', '1f 21 00'],
    ['the end of contents', '00 00'],
    ['a number without octets', '02 00'],
    ['a padded positive number', '02 02 0001'],
    ['a padded negative number', '02 02 ff80'],
    ['another true', '01 01 01'],
    ['bits that do not say how many are unused', '03 00'],
    ['unused bits of nothing', '03 01 01'],
    ['unused bits that are set', '03 02 0181'],
    ['eight unused bits', '03 02 0800'],
    ['something in nothing', '05 01 00'],
    ['an object identifier without octets', '06 00'],
    ['an object identifier that is cut', '06 02 2a86'],
    ['an object identifier with a padded number', '06 03 2a8001'],
    ['a time without seconds', '17 0b 323630313031303030305a'],
    ['a time with an offset', '17 11 3236303130313030303030302b30303030'],
    ['a text in pieces', '2c 03 0c0161'],
    ['bits in pieces', '23 04 03020001'],
    ['a sequence that is not constructed', '10 00'],
    ['a set that is not constructed', '11 00'],
    ['a type that nobody knows', '0f 00'],
    ['half a character', '1e 01 00'],
  ])('has not: %s', (_, hex) => {
    expect(isDistinguished(octets(hex))).toBe(false)
  })

  it('is not looked at too deep or too far', () => {
    let deep: Uint8Array<ArrayBuffer> = octets('0500')
    for (let level = 0; level < 31; level += 1) deep = writeDer(0x30, deep)
    expect(isDistinguished(deep)).toBe(true)
    expect(isDistinguished(writeDer(0x30, deep))).toBe(false)
    const wide = (count: number) => writeDer(0x30, ...Array.from({ length: count }, () => octets('0500')))
    expect(isDistinguished(wide(999))).toBe(true)
    expect(isDistinguished(wide(1000))).toBe(false)
  })

  it('says what a sequence is made of', () => {
    expect(readSequence(octets('30 05 020107 0500')).map(({ tag, content }) => [tag, [...content]])).toEqual([
      [2, [7]],
      [5, []],
    ])
    expect(() => readSequence(octets('31 00'))).toThrow()
    expect(() => readSequence(octets('3000 3000'))).toThrow()
  })
})

describe('a signature of ECDSA', () => {
  const number = (...end: readonly number[]) => new Uint8Array(32).fill(0, 0, 32 - end.length).fill(end[0] ?? 0, 31)

  it.each([
    ['of small numbers', number(1), number(0x7f)],
    ['of numbers with a high bit', number(0x80), new Uint8Array(32).fill(0xff)],
    ['of zeros', number(0), number(0)],
  ])('%s has one form in certificates, and is read back from it', (_, r, s) => {
    const sideBySide = new Uint8Array([...r, ...s])
    const written = ecdsaToDer(sideBySide)
    expect(isDistinguished(written)).toBe(true)
    expect(ecdsaFromDer(written, 32)).toEqual(sideBySide)
  })

  it.each([
    ['nothing', ''],
    ['one number', '30 03 020101'],
    ['three numbers', '30 09 020101 020101 020101'],
    ['a negative number', '30 06 020101 020180'],
    ['a padded number', '30 07 02020001 020101'],
    ['something else', '30 06 040101 020101'],
    ['a set', '31 06 020101 020101'],
    ['something after it', '30 06 020101 020101 00'],
    ['a number that is too long', `30 26 0221 01${'00'.repeat(32)} 020101`],
  ])('is not %s', (_, hex) => {
    expect(ecdsaFromDer(octets(hex), 32)).toBeUndefined()
  })
})
