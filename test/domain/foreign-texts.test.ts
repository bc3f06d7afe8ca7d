import { describe, expect, it } from 'vitest'
// Internals: texts that others write, read in every form; a controller would let few of them through.
import { networkOf } from '../../src/base/addresses.ts'
import { hidesText, visible } from '../../src/base/text.ts'
import { parseGoDuration } from '../../src/base/time.ts'

describe('spans as Go writes them', () => {
  it.each([
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['.5s', 500],
    ['1.s', 1000],
    ['500ms', 500],
    ['250us', 0.25],
    ['250µs', 0.25],
    ['1ns', 0.000001],
    ['0', 0],
    ['-1s', -1000],
    ['+1s', 1000],
  ])('%s is %d ms', (text, milliseconds) => {
    expect(parseGoDuration(text)).toBeCloseTo(milliseconds, 9)
  })

  it.each([[''], ['10'], ['m'], ['10 m'], ['10x'], ['1d'], ['--1s'], ['1s '], ['s1'], ['9999999999999h'], ['.s']])(
    '%j is none',
    (text) => {
      expect(parseGoDuration(text)).toBeUndefined()
    },
  )
})

describe('the network of', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('%s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('a name that others choose shows its invisible characters', () => {
  it.each([
    ['of no width', 'ad\u200bmin', 'ad\\u200bmin'],
    ['that mark the order of bytes', '\ufeffadmin', '\\ufeffadmin'],
    ['that hyphenate', 'ad\u00admin', 'ad\\u00admin'],
    ['that join words', 'ad\u2060min', 'ad\\u2060min'],
    ['that fill', 'admin\u3164', 'admin\\u3164'],
    ['that tag', 'admin\u{e0041}', 'admin\\udb40\\udc41'],
    ['that join letters of Latin', 'ad\u200dmin', 'ad\\u200dmin'],
    ['that join at the begin', '\u200dadmin', '\\u200dadmin'],
    ['that select a variant of a letter', 'admi\ufe00n', 'admi\\ufe00n'],
    ['that join twice', 'न\u200d\u200d', 'न\u200d\\u200d'],
    ['that reverse', 'a\u202eb', 'a\\u202eb'],
  ])('%s', (_kind, text, shown) => {
    expect(visible(text)).toBe(shown)
    expect(hidesText(text)).toBe(true)
    expect(JSON.parse(visible(JSON.stringify(text)))).toBe(text)
  })

  it.each([['نمی\u200cدانم'], ['क्\u200dष'], ['👨\u200d👩\u200d👧'], ['❤\ufe0f\u200d🔥'], ['Zoé']])(
    'but not those that its writing needs: %s',
    (text) => {
      expect(visible(text)).toBe(text)
      expect(hidesText(text)).toBe(false)
    },
  )
})
