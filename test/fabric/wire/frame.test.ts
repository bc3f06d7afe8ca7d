import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeMask, encodeMask } from '../../../adapters/network/channel/capability-mask.ts'
import { FrameAllowance } from '../../../adapters/network/channel/channel-socket.ts'
import { bodyOf } from '../../../adapters/network/channel/edge-messages.ts'
import { encodeFrame, type Frame, FrameError, FrameReader } from '../../../adapters/network/channel/frame.ts'
import {
  bytesMapHeader,
  readBytesMap,
  readTextList,
  readTextMap,
  readUint32,
  textMapHeader,
} from '../../../adapters/network/channel/header-values.ts'
import { runs } from '../../support/property-runs.ts'
import { bytesOf, hexOf } from './bytes.ts'

const LIMITS = { headers: 4096, body: 4096 }
const bytes = fc.uint8Array({ maxLength: 200 })
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const frame: fc.Arbitrary<Frame> = fc.record({
  contentType: int32,
  sequence: int32,
  headers: fc
    .uniqueArray(fc.tuple(int32, bytes), { selector: ([key]) => key, maxLength: 6 })
    .map((all) => new Map(all)),
  body: bytes.map((body) => (body.length === 0 ? [] : [body])),
})

const numbered = (sequence: number, length: number): Frame => ({
  ...{ contentType: 1, sequence },
  headers: new Map([[7, Uint8Array.of(sequence)]]),
  body: [Uint8Array.from({ length }, (_, at) => at + sequence)],
})

describe('frames', () => {
  it('arrive as they were sent, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 5 }), fc.array(fc.integer({ min: 1, max: 300 })), (frames, cuts) => {
        const stream = Buffer.concat(frames.flatMap((one) => encodeFrame(one)))
        const reader = new FrameReader(LIMITS)
        const read: Frame[] = []
        let position = 0
        for (const length of [...cuts, stream.length]) {
          read.push(...reader.push(stream.subarray(position, position + length)))
          position += length
        }
        expect(read.map(comparable)).toEqual(frames.map(comparable))
      }),
      runs(200),
    )
  })

  it('arrive as they were sent also where they are longer than the pieces that share room, and pieces differ much', () => {
    const length = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 3000, max: 12_000 }))
    fc.assert(
      fc.property(fc.array(length, { minLength: 1, maxLength: 4 }), fc.array(length), (bodies, cuts) => {
        const frames = bodies.map((bytes, sequence) => numbered(sequence, bytes))
        const stream = Buffer.concat(frames.flatMap((one) => encodeFrame(one)))
        const reader = new FrameReader({ headers: 4096, body: 65_536 })
        const read: Frame[] = []
        let position = 0
        for (const bytes of [...cuts, stream.length]) {
          read.push(...reader.push(stream.subarray(position, position + bytes)))
          position += bytes
        }
        expect(read.map(comparable)).toEqual(frames.map(comparable))
        // A Buffer is equal to no plain array where values of two sources are compared.
        for (const one of read) expect(bodyOf(one).constructor).toBe(Uint8Array)
      }),
      runs(200),
    )
  })

  it('are parts of what arrived, but a small one keeps no large piece in memory', () => {
    const sent = [numbered(1, 100), numbered(2, 10_000)].flatMap((one) => encodeFrame(one))
    const arrived = new Uint8Array(Buffer.concat(sent))
    const [first, second] = new FrameReader({ headers: 4096, body: 65_536 }).push(arrived)
    expect(second?.body[0]?.buffer).toBe(arrived.buffer)
    expect(first?.body[0]?.buffer.byteLength).toBeLessThan(1000)
  })

  it('are read from a hello of a router that was recorded', () => {
    const [hello] = new FrameReader(LIMITS).push(
      bytesOf(`0306090c 00000000 ffffffff 4d000000 02000000
        04000000 16000000 76322e302e307c727c647c6c696e75787c616d643634
        ea030000 01000000 02  09000000 01000000 01
        07000000 0c000000 6374726c2e64656661756c74  0b000000 01000000 01  7241`),
    )
    expect(hello).toMatchObject({ contentType: 0, sequence: -1 })
    expect([...(hello?.headers.keys() ?? [])]).toEqual([4, 1002, 9, 7, 11])
    expect(Buffer.concat(hello?.body ?? []).toString()).toBe('rA')
  })

  it('that are too large are refused before anything is set aside for them', () => {
    const reader = () => new FrameReader(LIMITS)
    expect(() => reader().push(bytesOf('0306090c 00000000 00000000 00000000 ffffffff'))).toThrow(FrameError)
    expect(() => reader().push(bytesOf('0306090c 00000000 00000000 ffffffff 00000000'))).toThrow(FrameError)
    expect(() => reader().push(bytesOf('0306090d 00000000 00000000 00000000 00000000'))).toThrow('magic')
    // A header that says to be longer than all headers together.
    expect(() => reader().push(bytesOf('0306090c 00000000 00000000 08000000 00000000 01000000 ffffff7f'))).toThrow(
      FrameError,
    )
  })

  it('of any bytes at all are read or refused with the one error', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 400 })), fc.boolean(), (pieces, isFramed) => {
        const reader = new FrameReader(LIMITS)
        try {
          if (isFramed) reader.push(bytesOf('0306090c'))
          for (const piece of pieces) reader.push(piece)
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError)
        }
      }),
      runs(500),
    )
  })

  it('take room for what arrived, not for each piece in which it arrives', () => {
    const reader = new FrameReader({ headers: 4096, body: 2 ** 22 })
    const body = new Uint8Array(2 ** 20)
    const stream = Buffer.concat(encodeFrame({ contentType: 1, sequence: 1, headers: new Map(), body: [body] }))
    let read = 0
    for (const byte of stream) read += reader.push(Uint8Array.of(byte)).length
    expect(read).toBe(1)
  })
})

describe('header values', () => {
  it('hold maps and come back the same', () => {
    const map = fc.uniqueArray(fc.tuple(fc.nat(), bytes), { selector: ([key]) => key, maxLength: 20 })
    fc.assert(
      fc.property(map, (entries) => {
        const read = readBytesMap(new Map([[1, bytesMapHeader(new Map(entries))]]), 1)
        expect([...read].map(([key, value]) => [key, hexOf(value)])).toEqual(
          entries.map(([key, value]) => [key, hexOf(value)]),
        )
      }),
      runs(100),
    )
    const texts = new Map([
      ['serviceId', 's'],
      ['clientId', 'ü'],
    ])
    expect(readTextMap(new Map([[1, textMapHeader(texts)]]), 1)).toEqual(texts)
    expect(readTextMap(new Map(), 1)).toEqual(new Map())
  })

  it('of any bytes at all are read or refused with the one error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (value) => {
        const headers = new Map([[1, value]])
        for (const read of [readBytesMap, readTextMap, readTextList]) {
          try {
            read(headers, 1)
          } catch (error) {
            expect(error).toBeInstanceOf(FrameError)
          }
        }
        expect(readUint32(headers, 1)).toBeLessThan(2 ** 32)
      }),
      runs(500),
    )
    expect(() => readTextList(new Map([[1, bytesOf('81000000')]]), 1)).toThrow('129 entries')
    expect(() => readTextList(new Map([[1, bytesOf('01000000 01000100')]]), 1)).toThrow('65537 bytes')
  })
})

it('capabilities are bits of a number of which the highest byte comes first', () => {
  expect(hexOf(encodeMask([1, 2, 3, 4, 5, 6]))).toBe('7e')
  expect(decodeMask(bytesOf('4000000000000076'))).toEqual([1, 2, 4, 5, 6, 62])
  const bits = fc.uniqueArray(fc.nat(63)).map((all) => all.sort((left, right) => left - right))
  fc.assert(
    fc.property(bits, (all) => {
      expect(decodeMask(encodeMask(all))).toEqual(all)
    }),
  )
})

it('frames beyond a rate have to wait, and a rest is no credit without end', () => {
  const allowance = new FrameAllowance({ perSecond: 10, burst: 5 }, 0)
  expect(allowance.take(5, 0)).toBe(0)
  expect(allowance.take(1, 0)).toBe(100)
  expect(allowance.take(1, 200)).toBe(0)
  expect(allowance.take(5, 100_000)).toBe(0)
  expect(allowance.take(10, 100_000)).toBe(1000)
})

function comparable({ contentType, sequence, headers, body }: Frame) {
  const entries = [...headers].map(([key, value]) => [key, hexOf(value)])
  return { contentType, sequence, headers: entries, body: hexOf(Buffer.concat(body)) }
}
