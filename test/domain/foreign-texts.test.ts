import { describe, expect, it } from 'vitest'
// Internals: texts that others write, read in every form; a controller would let few of them through.
import { networkOf } from '../../src/base/addresses.ts'
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
