import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameError } from '../../../adapters/network/channel/frame.ts'
import {
  COUNT,
  field,
  INT64,
  INTEGER,
  mapOf,
  message,
  optional,
  ProtobufError,
  repeated,
  TEXT,
} from '../../../adapters/network/channel/protobuf/index.ts'
import { CONTENT_TYPE } from '../../../adapters/network/fabric/messages/content-types.ts'
import { modelCodec } from '../../../adapters/network/fabric/messages/model-codec.ts'
import { StateEvents } from '../../../adapters/network/fabric/messages/model-definitions.ts'
import { readMessage } from '../../../adapters/network/fabric/messages/rows-from-router.ts'
import { readToRouter, writeMessage } from '../../../adapters/network/fabric/messages/rows-to-router.ts'
import { runs } from '../../support/property-runs.ts'
import { bytesOf, hexOf } from './bytes.ts'

const NONE = new Map<never, never>()

function bodyOf(written: { readonly body: readonly Uint8Array[] }): string {
  return hexOf(Buffer.concat(written.body))
}

function received(contentType: number, body: string, headers: ReadonlyMap<number, Uint8Array> = NONE) {
  return readMessage({ contentType, sequence: 1, headers, body: body === '' ? [] : [bytesOf(body)] })
}

describe('messages have the bytes that were recorded', () => {
  it('a route of one router that dials', () => {
    const written = writeMessage({
      type: 'route',
      circuitId: 'c',
      attempt: 0,
      timeoutMs: 10_000,
      egress: { binding: 'edge', address: 'E', destination: 'T', peerData: NONE },
      forwards: [
        { srcAddress: 'I', dstAddress: 'E', dstType: 'end' },
        { srcAddress: 'E', dstAddress: 'I', dstType: 'start' },
      ],
      tags: NONE,
    })
    expect(bodyOf(written)).toBe('0a01631a0c0a04656467651201451a015422080a0149120145180122060a01451201493080c8afa025')
  })

  it('peers', () => {
    const listeners = [{ address: 'tls:h:1', protocol: 'tls', groups: ['default'], localBinding: '' }]
    const written = writeMessage({ type: 'peers', changes: [{ id: 'rB', version: 'v2', state: 'healthy', listeners }] })
    expect(bodyOf(written)).toBe('0a210a0272421202763222170a07746c733a683a311203746c73220764656661756c74')
  })

  it('a fault, with its subject written or left out', () => {
    const fault = { type: 'fault', subject: 'ingress', id: 'c', iteration: 0 }
    expect(received(CONTENT_TYPE.fault, '120163')).toEqual(fault)
    expect(received(CONTENT_TYPE.fault, '0800120163')).toEqual(fault)
  })

  it('a subscription to the data model', () => {
    expect(received(CONTENT_TYPE.subscribeToModel, '080710ac022203746c312a0173')).toEqual({
      type: 'subscribe',
      currentIndex: 7,
      timelineId: 'tl1',
      subscriptionId: 's',
    })
  })

  it('a public key and the services of a policy, as events of the model', () => {
    const key = {
      type: 'public-key',
      kid: 'k',
      data: Uint8Array.of(1, 2),
      usages: ['jwt', 'client-certificates'],
    } as const
    // Whether numbers are packed is the writer's choice: here each stands by itself.
    expect(hexOf(modelCodec.state([{ action: 'create', entity: key }]))).toBe('0a0d720b0a02010212016b18001801')
    const related = { action: 'relate', policyId: 'p', side: 'services', entityIds: ['s'] } as const
    expect(hexOf(modelCodec.changes([related]))).toBe('1a0d82010a0a017012017318012001')
  })

  it('the model in pieces, which may arrive as other pieces', () => {
    const services = Array.from({ length: 50 }, (_, count) => {
      const entity = { type: 'service', id: `s${count}`, name: `service ${count}`, encryptionRequired: true } as const
      return modelCodec.state([{ action: 'create', entity: { ...entity, configs: [] } }])
    })
    const facts = { type: 'model-state', index: 7, timelineId: 'line', subscriptionId: 'sub' } as const
    const { contentType, headers, body } = writeMessage({ ...facts, events: services })
    const bytes = Buffer.concat(body)
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 9 }), (cuts) => {
        const ends = [...cuts.toSorted((one, other) => one - other), bytes.length]
        const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
        const arrived = readToRouter({ contentType, sequence: 1, headers, body: pieces })
        if (arrived?.type !== 'model-state') throw new Error('it was sent')
        expect(arrived).toMatchObject(facts)
        const names = arrived.events.flatMap((part) =>
          StateEvents.decode(part).events.map(({ service }) => service?.id),
        )
        expect(names.filter(Boolean)).toEqual(services.map((_, count) => `s${count}`))
      }),
      runs(300),
    )
  })

  it('a result, and a refusal of a circuit', () => {
    const result = writeMessage({ type: 'result', success: true, message: 'ok' })
    expect([result.contentType, bodyOf(result), hexOf(result.headers.get(2) ?? new Uint8Array())]).toEqual([
      2,
      '6f6b',
      '01',
    ])
    const refused = writeMessage({ type: 'refusal', code: 'invalid-service', message: 'no', hint: 'not-retriable' })
    expect(refused.contentType).toBe(20002)
    expect([...refused.headers].map(([key, value]) => [key, hexOf(value)])).toEqual([
      [1014, '06000000'],
      [18, '03000000'],
    ])
  })

  it('an answer has the form of its question', () => {
    const created = { type: 'circuit-created', circuitId: 'c', address: 'I', peerData: NONE, tags: NONE } as const
    const types = [20205, 20218, 20220, 20222].map((asked) => writeMessage(created, asked).contentType)
    expect(types).toEqual([20206, 20219, 20221, 20223])
    const hosted = { type: 'terminator-created', terminatorId: 't', startTime: -5n } as const
    expect([20216, 20413].map((asked) => writeMessage(hosted, asked).contentType)).toEqual([20217, 20414])
  })
})

describe('messages of any bytes', () => {
  const types = Object.values(CONTENT_TYPE)

  it('are read or refused with one of two errors', () => {
    const headers = fc
      .array(
        fc.tuple(fc.constantFrom(1, 2, 10, 11, 12, 13, 14, 15, 16, 1101, 1102, 1104), fc.uint8Array({ maxLength: 40 })),
      )
      .map((entries) => new Map(entries))
    fc.assert(
      fc.property(fc.constantFrom(...types), headers, fc.uint8Array({ maxLength: 300 }), (contentType, map, bytes) => {
        try {
          readMessage({ contentType, sequence: 0, headers: map, body: [bytes] })
        } catch (error) {
          expect(error instanceof ProtobufError || error instanceof FrameError).toBe(true)
        }
      }),
      runs(3000),
    )
  })

  it('are read alike in whatever pieces they arrive', () => {
    const body = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 })
    fc.assert(
      fc.property(fc.constantFrom(...types), body, (contentType, pieces) => {
        const frame = { contentType, sequence: 0, headers: NONE }
        for (const read of [readMessage, readToRouter]) {
          const attempt = (pieces: readonly Uint8Array[]) => {
            try {
              return read({ ...frame, body: pieces })
            } catch (error) {
              return String(error)
            }
          }
          expect(attempt(pieces)).toEqual(attempt([Uint8Array.from(Buffer.concat(pieces))]))
        }
      }),
      runs(2000),
    )
  })

  it('do not become more objects than a message may have', () => {
    const links = new Uint8Array(1_000_000)
    for (let at = 0; at < links.length; at += 2) links[at] = 0x0a
    expect(() =>
      readMessage({ contentType: CONTENT_TYPE.routerLinks, sequence: 0, headers: NONE, body: [links] }),
    ).toThrow('too many members')
  })

  it('do not reach what objects inherit', () => {
    const latencies = received(CONTENT_TYPE.metrics, '42 16 0a 09 5f5f70726f746f5f5f 12 09 19 0000000000000040')
    expect(latencies).toEqual({ type: 'metrics', usage: [], nanoseconds: new Map([['__proto__', 2]]) })
    expect(Reflect.get({}, 'mean')).toBeUndefined()
  })
})

describe('the protobuf codec', () => {
  const Inner = message({ name: field(1, TEXT), count: field(2, COUNT) })
  const Outer = message({
    id: field(1, TEXT),
    signed: field(2, INTEGER),
    exact: field(3, INT64),
    list: repeated(4, INTEGER),
    inner: optional(5, Inner),
    all: repeated(6, Inner),
    map: mapOf(7, TEXT, Inner),
  })
  const inner = fc.record({ name: fc.string({ unit: 'binary' }), count: fc.maxSafeNat() })
  const outer = fc.record({
    id: fc.string({ unit: 'binary' }),
    signed: fc.maxSafeInteger(),
    exact: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    list: fc.array(fc.maxSafeInteger()),
    inner: fc.option(inner, { nil: undefined }),
    all: fc.array(inner),
    map: fc.uniqueArray(fc.tuple(fc.string(), inner), { selector: ([key]) => key }).map((entries) => new Map(entries)),
  })

  it('reads what it wrote', () => {
    fc.assert(
      fc.property(outer, (value) => {
        expect(Outer.decode(Outer.encode(value))).toEqual(value)
      }),
      runs(300),
    )
  })

  it('takes packed numbers as others, passes over unknown fields, and the last of several counts', () => {
    expect(Outer.decode(bytesOf('2203 01 02 03 20 04')).list).toEqual([1, 2, 3, 4])
    expect(Outer.decode(bytesOf('9a01 02 ffff 0a0161 0a0162')).id).toBe('b')
    // A number where a text is declared.
    expect(Outer.decode(bytesOf('0805')).id).toBe('')
  })

  it.each(['0a', '0aff01', '10ffffffffffffffffffff01', '0b', '2a050a0161'])('refuses %s', (hex) => {
    expect(() => Outer.decode(bytesOf(hex))).toThrow(ProtobufError)
  })
})
