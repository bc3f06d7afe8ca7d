import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Acknowledgement,
  type Chunk,
  type EndReason,
  PAYLOAD_FLAG,
  type Payload,
  XgressEnd,
} from '../../src/data-plane.ts'
import { patience, runs } from '../support/property-runs.ts'
import { randomFrom } from '../support/seeded-random.ts'

/** Milliseconds that an end waits for the other end once its own data is out, and that it answers for after the end. */
const CLOSE_WAIT_MS = 30_000
const LINGER_MS = 5000
const LIMITS = {
  receiver: { readyBytes: 12_000, earlyBytes: 12_000, reach: 40 },
  sender: {
    mostBytes: 16_000,
    leastBytes: 1000,
    peerBytes: 12_000,
    giveUpMs: 180_000,
    giveUpFullMs: 3_600_000,
  },
}
const LARGEST_CHUNK = 400
/** The cost of a kept payload, by the length of its body. */
const cost = (length: number) => length + 256
const LOSSY_MS = 20_000

/** Bytes that tell where they belong: the circuit, the direction and their position. */
function stream(circuit: number, direction: number, length: number): Uint8Array {
  return Uint8Array.from(
    { length },
    (_, position) => (position * 31 + (position >> 8) + circuit * 101 + direction * 53) & 0xff,
  )
}

const plan = fc.record({
  seed: fc.integer(),
  loss: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.4, noNaN: true })),
  repeats: fc.double({ min: 0, max: 0.3, noNaN: true }),
  longestDelayMs: fc.integer({ min: 0, max: 3000 }),
  circuits: fc.array(
    fc.record({
      lengths: fc.tuple(fc.integer({ min: 0, max: 12_000 }), fc.integer({ min: 0, max: 12_000 })),
      /** How both sides end: one half after the other, or one side closes the whole as soon as it has written. */
      ending: fc.constantFrom('halves' as const, 'initiator-closes' as const, 'terminator-closes' as const),
      /** How often a side looks whether something is to be read, ms. */
      readEveryMs: fc.tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 900 })),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never

/** Events by time (whole ms), in the order in which they were planned where times are equal. */
class Timeline {
  now = 1_000_000
  readonly #events = new Map<number, (() => void)[]>()

  after(ms: number, run: () => void): void {
    const at = this.now + Math.floor(ms)
    const planned = this.#events.get(at)
    if (planned === undefined) this.#events.set(at, [run])
    else planned.push(run)
  }

  run(untilMs: number): void {
    for (; this.now <= untilMs && this.#events.size > 0; this.now += 1) {
      for (const run of this.#events.get(this.now) ?? []) run()
      this.#events.delete(this.now)
    }
  }
}

/** A person that writes all it has and reads what comes, at one end of a circuit. */
class Side {
  readonly received: number[] = []
  readonly end: XgressEnd
  reason: EndReason | undefined
  sawEnd = false
  sawClosed = false
  mostHeld = 0
  readonly #time: Timeline
  readonly #left: Chunk[]

  constructor(
    time: Timeline,
    circuitId: string,
    isInitiator: boolean,
    bytes: Uint8Array,
    random: () => number,
    send: (message: { payload: Payload } | { acknowledgement: Acknowledgement }) => void,
  ) {
    this.#time = time
    this.#left = cut(bytes, random)
    this.end = new XgressEnd(
      { circuitId, side: isInitiator ? 'initiator' : 'terminator', now: time.now, ...LIMITS },
      {
        payload: (payload) => send({ payload }),
        acknowledgement: (acknowledgement) => send({ acknowledgement }),
        readable: () => undefined,
        writable: () => this.write(),
        over: (reason) => {
          this.reason = reason
        },
      },
    )
  }

  get hasWritten(): boolean {
    return this.#left.length === 0
  }

  write(): void {
    while (this.#left.length > 0 && !this.end.isOver) {
      const chunk = this.#left.shift()
      if (chunk !== undefined && !this.end.write(chunk, this.#time.now)) return
    }
  }

  read(): void {
    for (let reading = this.end.read(this.#time.now); reading !== undefined; reading = this.end.read(this.#time.now)) {
      if (reading.type === 'data') this.received.push(...reading.chunk.body)
      if (reading.type === 'end') this.sawEnd = true
      if (reading.type === 'closed') this.sawClosed = true
    }
  }

  look(): void {
    this.mostHeld = Math.max(this.mostHeld, this.end.heldBytes - this.end.waitingBytes)
  }
}

function cut(bytes: Uint8Array, random: () => number): Chunk[] {
  const chunks: Chunk[] = []
  for (let position = 0; position < bytes.length; ) {
    const length = 1 + Math.floor(random() * LARGEST_CHUNK)
    chunks.push({ items: new Map(), body: bytes.subarray(position, position + length) })
    position += length
  }
  return chunks
}

/** Plays a plan and answers the sides of every circuit, with what each should have received. */
function play({ seed, loss, repeats, longestDelayMs, circuits }: Plan) {
  const time = new Timeline()
  const random = randomFrom(seed)
  const begun = time.now
  const all = circuits.map(({ lengths, ending, readEveryMs }, number) => {
    const circuitId = `circuit-${number}`
    const bytes = [stream(number, 0, lengths[0]), stream(number, 1, lengths[1])] as const
    const sides: Side[] = []
    const way =
      (to: number) =>
      (message: { payload: Payload } | { acknowledgement: Acknowledgement }): void => {
        const isLossy = time.now - begun < LOSSY_MS
        const copies = (isLossy && random() < loss ? 0 : 1) + (isLossy && random() < repeats ? 1 : 0)
        for (let copy = 0; copy < copies; copy += 1) {
          time.after(random() * (isLossy ? longestDelayMs : 20), () => {
            // Who forwards wrongly hands it to everybody: only its own circuit may take it.
            for (const { sides: other } of all) {
              const end = other[to]?.end
              if ('payload' in message) end?.takePayload(message.payload, time.now)
              else end?.takeAcknowledgement(message.acknowledgement, time.now)
            }
          })
        }
      }
    sides.push(
      new Side(time, circuitId, true, bytes[0], random, way(1)),
      new Side(time, circuitId, false, bytes[1], random, way(0)),
    )
    return { sides, bytes, ending, readEveryMs }
  })
  for (const { sides, ending, readEveryMs } of all) {
    sides.forEach((side, at) => {
      const closes = ending === (at === 0 ? 'initiator-closes' : 'terminator-closes')
      side.end.start(time.now)
      side.write()
      const read = () => {
        side.read()
        side.end.acknowledge()
        if (side.hasWritten && side.end.waitingBytes === 0) {
          if (closes) side.end.close(time.now)
          else if (ending === 'halves') side.end.finish(time.now)
        }
        if (side.sawClosed) side.end.close(time.now)
        if (!side.end.isOver) time.after(readEveryMs[at as 0 | 1], read)
      }
      read()
      const tick = () => {
        side.end.tick(time.now)
        side.look()
        if (!side.end.isOver) time.after(100, tick)
      }
      tick()
    })
  }
  time.run(begun + 2 * 3_600_000)
  return { all, tookMs: time.now - begun }
}

/** A plan whose loss ends ten seconds before a side gives up: many payloads are missing then, and each round trip brings one or two. */
const GIVEN_UP_AFTER_A_BAD_TIME: Plan = {
  ...{ seed: 2075004226, loss: 0.38075272343121475, repeats: 0, longestDelayMs: 1791 },
  circuits: [
    { lengths: [11617, 2616], ending: 'halves', readEveryMs: [160, 257] },
    { lengths: [256, 1626], ending: 'terminator-closes', readEveryMs: [1, 1] },
    { lengths: [0, 3740], ending: 'terminator-closes', readEveryMs: [853, 85] },
  ],
}

describe('two ends of a circuit over a way that loses, delays, repeats and reorders', () => {
  it('hand over every byte once, in order and to nobody else, end, and hold no more than their windows', {
    timeout: patience(60_000),
  }, () => {
    fc.assert(
      fc.property(plan, (tried) => {
        for (const { sides, bytes, ending } of play(tried).all) {
          const [initiator, terminator] = sides
          if (initiator === undefined || terminator === undefined) throw new Error('two sides')
          for (const [at, side] of sides.entries()) {
            const theirs = bytes[at === 0 ? 1 : 0]
            expect(side.received).toEqual([...theirs.subarray(0, side.received.length)])
            // A side that closes gives up after 30 s; the controller of the circuit ends the other one then, which still waits for the rest.
            const waitsForMore = side.received.length < theirs.length
            if (!waitsForMore || sides[1 - at]?.reason !== 'closed') expect(side.end.isOver).toBe(true)
            const { receiver, sender } = LIMITS
            const most = receiver.readyBytes + receiver.earlyBytes + sender.mostBytes + 2 * cost(LARGEST_CHUNK)
            expect(side.mostHeld).toBeLessThanOrEqual(most)
          }
          if (ending === 'halves') {
            for (const [at, side] of sides.entries()) {
              expect(side.received.length).toBe(bytes[at === 0 ? 1 : 0].length)
              expect(side.sawEnd).toBe(true)
              // Who says the last word never knows that it was heard: the other one may have to give up.
              if (tried.loss === 0) expect(side.reason).toBe('closed')
            }
          }
        }
      }),
      { ...runs(300, 60), examples: [[GIVEN_UP_AFTER_A_BAD_TIME]] },
    )
  })

  it('end within the time of closing when the other end is gone', () => {
    const time = new Timeline()
    const lost: unknown[] = []
    const side = new Side(time, 'c', true, stream(0, 0, 100), randomFrom(1), (message) => lost.push(message))
    side.end.start(time.now)
    side.write()
    side.end.close(time.now)
    for (let waited = 0; waited < CLOSE_WAIT_MS; waited += 100) {
      time.now += 100
      side.end.tick(time.now)
    }
    expect(side.reason).toBe('closed')
    expect(lost.length).toBeGreaterThan(2)
  })

  it('a side that hosts gives up a client that never begins, and one that sends gives up a peer that is silent', () => {
    const time = new Timeline()
    const host = new Side(time, 'c', false, stream(0, 1, 100), randomFrom(1), () => undefined)
    const client = new Side(time, 'c', true, stream(0, 0, 100), randomFrom(1), () => undefined)
    client.end.start(time.now)
    host.write()
    client.write()
    for (let waited = 0; waited < 181_000; waited += 100) {
      time.now += 100
      host.end.tick(time.now)
      client.end.tick(time.now)
    }
    expect(host.reason).toBe('never-started')
    expect(client.reason).toBe('peer-silent')
  })

  it('both are over soon after both directions ended and everything arrived', () => {
    const quiet: Plan = {
      seed: 7,
      loss: 0,
      repeats: 0,
      longestDelayMs: 10,
      circuits: [{ lengths: [5000, 3000], ending: 'halves', readEveryMs: [10, 10] }],
    }
    expect(play(quiet).tookMs).toBeLessThan(LINGER_MS + 3000)
  })
})

describe('an end that sends to a slow reader', () => {
  /** A writer of a hundred payloads and its peer, one step of ten milliseconds at a time; `loses` drops acknowledgements. */
  function toReader(loses: (now: number) => boolean = () => false) {
    let now = 1_000_000
    const sent: Payload[] = []
    const ends: XgressEnd[] = []
    const open = (side: 'initiator' | 'terminator') =>
      new XgressEnd(
        { circuitId: 'c', side, now, ...LIMITS },
        {
          payload: (payload) => {
            if (side === 'initiator') sent.push(payload)
            ends[side === 'initiator' ? 1 : 0]?.takePayload(payload, now)
          },
          acknowledgement: (acknowledgement) => {
            if (!loses(now)) ends[side === 'initiator' ? 1 : 0]?.takeAcknowledgement(acknowledgement, now)
          },
          readable: () => undefined,
          writable: () => undefined,
          over: () => undefined,
        },
      )
    ends.push(open('initiator'), open('terminator'))
    const [writer, reader] = ends
    if (writer === undefined || reader === undefined) throw new Error('there are two')
    writer.start(now)
    for (let count = 0; count < 100; count += 1) writer.write({ items: new Map(), body: new Uint8Array(400) }, now)
    writer.finish(now)
    const step = () => {
      now += 10
      if (now % 100 === 0) for (const end of ends) end.tick(now)
      reader.acknowledge()
      return reader.read(now)?.type
    }
    return { sent, step, writer }
  }

  it('sends nothing twice, and the end right behind the last bytes', () => {
    const { sent, step } = toReader()
    const readings = Array.from({ length: 103 }, () => step())
    expect(readings.filter((type) => type === 'data').length).toBe(100)
    expect(readings.slice(0, 102)).toContain('end')
    expect(sent.filter(({ flags }) => (flags & PAYLOAD_FLAG.retransmit) !== 0)).toEqual([])
  })

  it('tries a full reader after a second, when the report that it went on was lost', () => {
    const { step, writer } = toReader((now) => now > 1_000_100 && now < 1_000_900)
    const readings = Array.from({ length: 400 }, () => step())
    expect(readings.filter((type) => type === 'data').length).toBe(100)
    expect(readings).toContain('end')
    expect(writer.waitingBytes).toBe(0)
  })
})

describe('an end that receives', () => {
  /** The host of a circuit, what it acknowledges, and payloads of its client. */
  function receiving(receiver = LIMITS.receiver) {
    const told: (readonly [sequences: readonly number[], bufferedBytes: number])[] = []
    const end = new XgressEnd(
      { circuitId: 'c', side: 'terminator', now: 0, ...LIMITS, receiver },
      {
        payload: () => undefined,
        acknowledgement: ({ sequences, bufferedBytes }) => void told.push([sequences, bufferedBytes]),
        readable: () => undefined,
        writable: () => undefined,
        over: () => undefined,
      },
    )
    const take = (sequence: number, length: number) => {
      const body = new Uint8Array(length).fill(sequence)
      end.takePayload({ circuitId: 'c', sequence, flags: 0, items: new Map(), body, sentAt: undefined }, 0)
    }
    const acknowledged = () => {
      end.acknowledge()
      return told.splice(0)
    }
    const read = () => {
      const reading = end.read(0)
      return reading?.type === 'data' ? reading.chunk.body[0] : reading?.type
    }
    return { end, take, acknowledged, read }
  }

  it('reads in order and once what comes early or again, and acknowledges again what it knows', () => {
    const { end, take, acknowledged, read } = receiving()
    for (const sequence of [0, 0, 2, 2]) take(sequence, 100)
    expect(acknowledged()).toEqual([[[0, 0, 2, 2], 2 * cost(100)]])
    expect([read(), read()]).toEqual([0, undefined])
    take(0, 100)
    take(1, 100)
    expect(acknowledged()).toEqual([[[0, 1], 2 * cost(100)]])
    expect([read(), read(), read()]).toEqual([1, 2, undefined])
    expect([end.heldBytes, acknowledged()]).toEqual([0, []])
  })

  it('reads thousands of payloads that wait together, in order', () => {
    const { end, take, read } = receiving({ readyBytes: 1_000_000, earlyBytes: 0, reach: 0 })
    for (let sequence = 0; sequence < 3000; sequence += 1) take(sequence, 1)
    expect(end.heldBytes).toBe(3000 * cost(1))
    for (let sequence = 0; sequence < 3000; sequence += 1) expect(read()).toBe(sequence % 256)
    expect([read(), end.heldBytes]).toEqual([undefined, 0])
  })

  it('drops what is too far ahead, or more than it may keep early, and says that it is there', () => {
    const most = cost(1) + cost(1000) + cost(999)
    const { take, acknowledged } = receiving({ readyBytes: most, earlyBytes: most, reach: 40 })
    take(41, 1)
    expect(acknowledged()).toEqual([[[], 0]])
    take(40, 1)
    take(1, 1000)
    take(2, 999)
    expect(acknowledged()).toEqual([[[40, 1, 2], most]])
    take(3, 1)
    expect(acknowledged()).toEqual([[[], most]])
    // The reach counts from the payload that is expected next.
    const later = receiving()
    later.take(0, 1)
    later.take(41, 1)
    expect(later.acknowledged()).toEqual([[[0, 41], 2 * cost(1)]])
  })

  it('drops what comes while too much waits to be read, and takes it afterwards', () => {
    const { take, acknowledged, read } = receiving({ ...LIMITS.receiver, readyBytes: 2 * cost(1000) })
    for (const sequence of [0, 1, 2, 3]) take(sequence, 1000)
    expect(acknowledged()).toEqual([[[0, 1, 2], 3 * cost(1000)]])
    expect(read()).toBe(0)
    take(3, 1000)
    expect(acknowledged()).toEqual([[[3], 3 * cost(1000)]])
    expect([read(), read(), read()]).toEqual([1, 2, 3])
  })

  it('tells its sender when half of what it had reported was read, while that was much', () => {
    const { take, acknowledged, read } = receiving({ readyBytes: 40_000, earlyBytes: 0, reach: 0 })
    for (const sequence of [0, 1, 2, 3]) take(sequence, 9000)
    expect(acknowledged()).toEqual([[[0, 1, 2, 3], 4 * cost(9000)]])
    const news = Array.from({ length: 4 }, () => [read(), ...acknowledged()])
    expect(news).toEqual([[0], [1], [2, [[], cost(9000)]], [3]])
  })

  it('keeps no more of a flood of small payloads, or of what they carry beside their bytes, than of large ones', () => {
    const most = 100_000
    const { end, take, acknowledged } = receiving({ readyBytes: most, earlyBytes: most, reach: 40 })
    for (let sequence = 0; sequence < 1000; sequence += 1) take(sequence, 0)
    expect(acknowledged()).toEqual([[Array.from({ length: Math.ceil(most / cost(0)) }, (_, at) => at), end.heldBytes]])
    const other = receiving({ readyBytes: most, earlyBytes: most, reach: 40 })
    const items = new Map(Array.from({ length: 100 }, (_, at) => [at, new Uint8Array(1000)]))
    for (const sequence of [0, 1, 2]) {
      const payload = { circuitId: 'c', sequence, flags: 0, items, body: new Uint8Array(1), sentAt: undefined }
      other.end.takePayload(payload, 0)
    }
    expect(other.acknowledged()).toEqual([[[0], other.end.heldBytes]])
    expect(other.end.heldBytes).toBeGreaterThan(most)
  })

  it('forgets what nobody read when it closes', () => {
    const { end, take } = receiving()
    take(0, 100)
    expect(end.heldBytes).toBe(cost(100))
    end.close(0)
    expect(end.heldBytes).toBe(0)
  })
})
