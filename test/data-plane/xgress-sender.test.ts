import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EndReason, PAYLOAD_FLAG, type Payload, XgressEnd } from '../../src/data-plane.ts'
import { runs } from '../support/property-runs.ts'

const LIMITS = {
  mostBytes: 100_000,
  leastBytes: 10_000,
  peerBytes: 10_000_000,
  giveUpMs: 180_000,
  giveUpFullMs: 3_600_000,
}
/** Milliseconds until the first payload is sent again before a round trip was measured, and the most between two attempts. */
const FIRST_WAIT_MS = 1000
const MOST_WAIT_MS = 4000
/** Bytes of a payload that costs a thousand where it is kept. */
const [LENGTH, COST] = [744, 1000]

/** The dialing end of a circuit, and its peer that says what it wants to. The announcement is the payload 0. */
function sending(limits?: Partial<typeof LIMITS> | 'of deployed routers') {
  const sent: Payload[] = []
  const over: EndReason[] = []
  const sender = limits === 'of deployed routers' ? undefined : { ...LIMITS, ...limits }
  const end = new XgressEnd(
    { circuitId: 'c', side: 'initiator', now: 0, ...(sender && { sender }) },
    {
      payload: (payload) => void sent.push(payload),
      acknowledgement: () => undefined,
      readable: () => undefined,
      writable: () => undefined,
      over: (reason) => void over.push(reason),
    },
  )
  end.start(0)
  /** The numbers of the payloads that left since the last look. */
  const left = () => sent.splice(0).map(({ sequence }) => sequence)
  const write = (count: number, length = LENGTH, now = 0) => {
    for (let chunk = 0; chunk < count; chunk += 1) end.write({ items: new Map(), body: new Uint8Array(length) }, now)
    return left()
  }
  const tell = (sequences: readonly number[], bufferedBytes = 0, now = 0, sentAt?: number) => {
    end.takeAcknowledgement({ circuitId: 'c', sequences, fromOriginator: true, bufferedBytes, sentAt }, now)
    return left()
  }
  const tick = (now: number) => {
    end.tick(now)
    return left()
  }
  /** The payloads that leave at an instant, where none left a millisecond before. */
  const firstAt = (now: number) => {
    expect(tick(now - 1)).toEqual([])
    return tick(now)
  }
  return { end, sent, over, left, write, tell, tick, firstAt }
}

/** The same once its peer has the announcement. */
function begun(limits?: Parameters<typeof sending>[0]) {
  const all = sending(limits)
  all.left()
  all.tell([0])
  return all
}

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

describe('a sender has no more under way', () => {
  it('than its window of bytes, and one payload beyond it', () => {
    const { write, tell, end } = begun({ mostBytes: 10 * COST })
    expect(write(20)).toEqual(from(1, 11))
    expect([end.waitingBytes, end.heldBytes]).toEqual([9 * COST, 20 * COST])
    expect(tell([1])).toEqual([12])
    expect(tell([2, 3, 4])).toEqual([13, 14, 15])
  })

  it('than its peer has room for beside what that has to read', () => {
    const { write, tell } = begun({ peerBytes: 10 * COST })
    expect(write(30)).toEqual(from(1, 11))
    expect(tell(from(1, 11), 8 * COST)).toEqual([12, 13, 14])
    expect(tell([12, 13, 14], 9 * COST + 1)).toEqual([15])
    expect(tell([15], 10 * COST + 1)).toEqual([])
  })

  it('than deployed routers have, unless its owner says otherwise', () => {
    const { write } = begun('of deployed routers')
    expect(write(100, 65_536 - COST + LENGTH)).toEqual(from(1, 65))
  })

  it('than a full peer shows by a payload after each second of its silence', () => {
    const { write, tell, tick, firstAt } = begun({ peerBytes: 10 * COST })
    write(30)
    expect(tell(from(1, 11), 20 * COST, 500)).toEqual([])
    expect(firstAt(1500)).toEqual([12])
    // It is under way, and is sent again as any other.
    expect(tick(1600)).toEqual([])
    expect(tell([12], 0, 1700)).toEqual(from(13, 23))
  })

  it('than nothing, once its peer reads no more', () => {
    const { write, end, tick } = begun({ mostBytes: 10 * COST })
    write(20)
    const failed = PAYLOAD_FLAG.originator | PAYLOAD_FLAG.writeFailed
    end.takePayload(
      { circuitId: 'c', sequence: 0, flags: failed, items: new Map(), body: new Uint8Array(1), sentAt: undefined },
      0,
    )
    expect(end.read(0)?.type).toBe('data')
    expect(end.heldBytes).toBe(0)
    expect(tick(FIRST_WAIT_MS)).toEqual([])
  })
})

describe('a payload without an acknowledgement', () => {
  it('is sent again after a second, then after two, and every four seconds', () => {
    const { write, firstAt, sent, end } = sending()
    write(1)
    for (const instant of [1000, 3000, 7000, 11_000]) expect(firstAt(instant)).toEqual([0, 1])
    end.tick(15_000)
    const again = { flags: PAYLOAD_FLAG.circuitStart | PAYLOAD_FLAG.retransmit, sentAt: 15_000 }
    expect(sent).toMatchObject([again, { ...again, flags: PAYLOAD_FLAG.retransmit }])
  })

  it('waits for its own time, whatever was sent before it', () => {
    const { write, tell, tick } = sending()
    write(1)
    tell([0])
    write(1, LENGTH, 900)
    expect(tick(1000)).toEqual([1])
    expect(tick(1899)).toEqual([])
    // The first one waits for its second attempt.
    expect(tick(1900)).toEqual([2])
    expect(tick(3000)).toEqual([1])
  })

  it('waits no longer than for its second attempt where a later one arrived, if it is the oldest', () => {
    const { write, tell, tick, firstAt } = sending()
    write(3)
    tell([0])
    for (const instant of [1000, 3000, 7000]) expect(firstAt(instant)).toEqual([1, 2, 3])
    expect(tell([3], 0, 7100)).toEqual([])
    expect(firstAt(9000)).toEqual([1])
    // Nothing new arrived since then.
    tell([3], 0, 9100)
    expect(firstAt(11_000)).toEqual([2])
    expect(tick(12_999)).toEqual([])
    expect(tick(13_000)).toEqual([1])
  })

  it('waits for its first attempt, whatever arrives', () => {
    const { write, tell, firstAt } = sending()
    write(2)
    tell([2], 0, 500)
    expect(firstAt(FIRST_WAIT_MS)).toEqual([0, 1])
  })

  it('is one of sixty-four that a turn sends again, the oldest first', () => {
    const { write, tick } = sending()
    write(100)
    expect(tick(FIRST_WAIT_MS)).toEqual(from(0, 63))
    expect(tick(FIRST_WAIT_MS)).toEqual(from(64, 100))
    expect(tick(FIRST_WAIT_MS)).toEqual([])
  })

  it('waits by the mean round trip and its deviation', () => {
    const sample = fc.integer({ min: 0, max: 6000 })
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: 12 }), fc.nat(200_000), (samples, begun) => {
        const { write, tell, firstAt, tick } = sending()
        let [mean, deviation] = [0, 0]
        let now = begun
        for (const [at, sample] of samples.entries()) {
          write(1, LENGTH, now)
          const sentAt = now % 65_536
          now += sample
          tell([at], 0, now, sentAt)
          const taken = Math.min(sample, MOST_WAIT_MS)
          deviation = at === 0 ? taken : deviation * 0.75 + Math.abs(taken - mean) * 0.25
          mean = at === 0 ? taken : mean * 0.875 + taken * 0.125
        }
        tell([samples.length], 0, now)
        write(1, LENGTH, now)
        const waitMs = Math.min(MOST_WAIT_MS, Math.max(100, mean + 4 * deviation))
        // Numbers with a fraction are added in another order here.
        const [early, late] = [Math.ceil(waitMs - 1e-6), Math.ceil(waitMs + 1e-6)]
        if (early === late) expect(firstAt(now + late)).toEqual([samples.length + 1])
        else expect(tick(now + early - 1)).toEqual([])
      }),
      runs(300),
    )
  })

  it.each([
    ['no time', [0], undefined],
    ['no payload', [], 300],
  ] as const)('waits a second where an acknowledgement has %s', (_, sequences, sentAt) => {
    const { write, tell, firstAt } = sending()
    write(1)
    tell(sequences, 0, 400, sentAt)
    tell([0], 0, 400)
    expect(firstAt(FIRST_WAIT_MS)).toEqual([1])
  })
})

describe('a sender waits longer', () => {
  /** An end whose first round trip took 50 ms: it waits 250 ms where nothing was acknowledged twice. */
  function measured() {
    const all = sending({ mostBytes: 10_000_000 })
    all.write(1)
    all.tell([0], 0, 50, 0)
    all.tell([1], 0, 50)
    let next = 2
    const waits = (ms: number) => {
      all.write(1, LENGTH, 50)
      expect(all.firstAt(50 + ms)).toEqual([next])
      all.tell([next], 0, 50)
      next += 1
    }
    const repeat = (count: number) =>
      all.tell(
        Array.from({ length: count }, () => 0),
        0,
        50,
      )
    const acknowledge = (count: number) => {
      all.write(count, 1, 50)
      all.tell(from(next, next + count - 1), 0, 50)
      next += count
    }
    return { waits, repeat, acknowledge }
  }

  it.each([
    [0, 250],
    [63, 250],
    [64, 300],
    [127, 300],
    [128, 350],
    [64 * 44, 2450],
    [64 * 45, 2500],
    [64 * 60, 2500],
  ])('after %i acknowledgements of what was known: %i ms', (count, ms) => {
    const { waits, repeat } = measured()
    repeat(count)
    waits(ms)
  })

  it.each([
    [64, 25, 300],
    [64, 26, 298],
    [64, 54, 295],
    [0, 56, 250],
    [64, 28 * 30, 250],
  ])('after %i of them, and less after %i good ones: %i ms', (repeats, count, ms) => {
    // Two payloads were acknowledged for the measurement.
    const { waits, repeat, acknowledge } = measured()
    repeat(repeats)
    acknowledge(count)
    waits(ms)
  })
})

describe('the window of a sender', () => {
  /** A hundred and one payloads are under way, and many more wait. */
  function crowded(limits?: Partial<typeof LIMITS>) {
    const all = begun(limits)
    expect(all.write(1000)).toEqual(from(1, 101))
    return all
  }

  it('shrinks by a quarter with every sixty-fourth repetition', () => {
    const { tick, tell } = crowded()
    expect(tick(1000)).toHaveLength(64)
    expect(tell(from(1, 25))).toEqual([])
    expect(tell([26])).toEqual([102])
  })

  it('stays with sixty-three', () => {
    const { write, tick, tell } = begun({ mostBytes: 62 * COST })
    expect(write(100)).toEqual(from(1, 63))
    expect(tick(1000)).toEqual(from(1, 63))
    expect(tell([1])).toEqual([64])
  })

  it('grows with every twenty-eighth acknowledgement by the bytes that arrived since it shrank, and no further than its limit', () => {
    const { tick, tell } = crowded()
    expect([tick(1000).length, tick(1000).length, tick(3000).length]).toEqual([64, 37, 64])
    // 56,250 bytes, of 101,000. The announcement was acknowledged first.
    expect(tell(from(1, 26), 0, 3000)).toEqual([])
    // 83,250.
    expect(tell([27], 0, 3000)).toEqual(from(102, 111))
    expect(tell(from(28, 54), 0, 3000)).toEqual(from(112, 138))
    // 100,000, and not 138,250.
    expect(tell([55], 0, 3000)).toEqual(from(139, 156))
  })

  it('shrinks no further than its least', () => {
    const { tick, tell } = crowded({ leastBytes: 90 * COST })
    for (let turn = 0; turn < 8; turn += 1) tick(1000 + turn * MOST_WAIT_MS)
    expect(tell(from(1, 10), 0, 40_000)).toEqual([])
    expect(tell([11], 0, 40_000)).toEqual([102])
  })
})

describe('a sender gives up a peer that is silent', () => {
  it.each([
    ['after three minutes', 5000, 180_000],
    ['after an hour where the buffer of the peer was more than half full', 5001, 3_600_000],
  ] as const)('%s', (_, bufferedBytes, ms) => {
    const { write, tell, end, over } = sending({ peerBytes: 10 * COST })
    write(1)
    tell([0], bufferedBytes, 700)
    end.tick(700 + ms)
    expect(over).toEqual([])
    end.tick(701 + ms)
    expect(over).toEqual(['peer-silent'])
  })

  it('by the time of its oldest payload where nothing was under way before', () => {
    const { write, tell, end, over } = sending()
    tell([0], 0, 10)
    write(1, LENGTH, 50_000)
    end.tick(230_000)
    expect(over).toEqual([])
    end.tick(230_001)
    expect(over).toEqual(['peer-silent'])
  })
})
