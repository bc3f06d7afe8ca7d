import { describe, expect, it } from 'vitest'
import {
  type Acknowledgement,
  type CircuitSide,
  type EndReason,
  PAYLOAD_FLAG,
  PAYLOAD_ITEM,
  type Payload,
  XgressEnd,
} from '../../src/data-plane.ts'

const LIMITS = {
  receiver: { readyBytes: 1000, earlyBytes: 1000, reach: 10 },
  sender: {
    ...{ mostBytes: 1000, leastBytes: 100, peerBytes: 1_000_000 },
    ...{ giveUpMs: 180_000, giveUpFullMs: 3_600_000 },
  },
}
/** Milliseconds that a host waits for its client, a closed end for its peer, and a finished end for repetitions. */
const [START_WAIT_MS, CLOSE_WAIT_MS, LINGER_MS] = [180_000, 30_000, 5000]
const CAPABILITIES = new Map([[PAYLOAD_ITEM.capabilities, Uint8Array.of(0, 0, 1, 0)]])
const FIN = new Map([[PAYLOAD_ITEM.edgeFlags, Uint8Array.of(1, 0, 0, 0)]])
/** The cost of a kept payload, by the length of its body. */
const cost = (length: number) => length + 256
/** The cost of an announcement. */
const ANNOUNCED = 516
const START = { flags: PAYLOAD_FLAG.circuitStart, items: CAPABILITIES }

/** An end of a circuit, with the words of its peer. */
function endOf(side: CircuitSide, { begunAt = 0, receiver = LIMITS.receiver } = {}) {
  const sent: Payload[] = []
  const acknowledged: Acknowledgement[] = []
  const over: EndReason[] = []
  const calls = { readable: 0, writable: 0 }
  const end = new XgressEnd(
    { circuitId: 'c', side, now: begunAt, ...LIMITS, receiver },
    {
      payload: (payload) => void sent.push(payload),
      acknowledgement: (acknowledgement) => void acknowledged.push(acknowledgement),
      readable: () => {
        calls.readable += 1
      },
      writable: () => {
        calls.writable += 1
      },
      over: (reason) => void over.push(reason),
    },
  )
  const ofPeer = side === 'initiator' ? PAYLOAD_FLAG.originator : 0
  let next = 0
  /** The next payload of the peer, or one with a number of its own. */
  const hear = (
    { flags = 0, body = '', ...rest }: Partial<Omit<Payload, 'body'>> & { body?: string } = {},
    now = 0,
  ) => {
    const sequence = rest.sequence ?? next
    next = Math.max(next, sequence + 1)
    const heard = { circuitId: 'c', items: new Map(), sentAt: 7, ...rest, flags: flags | ofPeer, sequence }
    end.takePayload({ ...heard, body: new TextEncoder().encode(body) }, now)
  }
  /** Words for what is to be read. */
  const read = (now = 0) => {
    const words: string[] = []
    for (let reading = end.read(now); reading !== undefined; reading = end.read(now)) {
      words.push(reading.type === 'data' ? `data ${new TextDecoder().decode(reading.chunk.body)}` : reading.type)
    }
    return words
  }
  const write = (text: string, now = 0) => end.write({ items: new Map(), body: new TextEncoder().encode(text) }, now)
  const left = () => sent.splice(0)
  /** The peer has everything that left. */
  const confirm = (now = 0) => {
    const sequences = left().map(({ sequence }) => sequence)
    const fromOriginator = side === 'initiator'
    end.takeAcknowledgement({ circuitId: 'c', sequences, fromOriginator, bufferedBytes: 0, sentAt: undefined }, now)
    return sequences
  }
  return { end, sent, acknowledged, over, calls, hear, read, write, left, confirm }
}

describe('a circuit begins', () => {
  it('by an announcement of its client, once', () => {
    const { end, left, write } = endOf('initiator')
    expect(write('early')).toBe(false)
    expect([left(), end.waitingBytes, end.isQuiet]).toEqual([[], cost(5), false])
    end.start(70_000)
    end.start(70_000)
    const none = { circuitId: 'c', flags: 0, sentAt: 4464 }
    expect(left()).toEqual([
      { ...none, sequence: 0, flags: PAYLOAD_FLAG.circuitStart, items: CAPABILITIES, body: new Uint8Array(0) },
      { ...none, sequence: 1, items: new Map(), body: new TextEncoder().encode('early') },
    ])
    expect(end.isQuiet).toBe(false)
  })

  it('at its host with the announcement of the client, which is answered', () => {
    const { end, left, write, hear, read } = endOf('terminator')
    end.start(0)
    write('early')
    expect(left()).toEqual([])
    hear({ ...START, body: 'hello' })
    expect(read()).toEqual(['data hello'])
    expect(left()).toMatchObject([
      { sequence: 0, flags: PAYLOAD_FLAG.originator, items: CAPABILITIES },
      { sequence: 1, flags: PAYLOAD_FLAG.originator },
    ])
    hear(START)
    expect([read(), left()]).toEqual([[], []])
  })

  it('without an answer where the client announces nothing, and ends a direction by a flag of the edge then', () => {
    const { end, left, hear, read } = endOf('terminator')
    hear({ flags: PAYLOAD_FLAG.circuitStart })
    expect([read(), left()]).toEqual([[], []])
    end.finish(0)
    expect(left()).toMatchObject([{ sequence: 0, flags: PAYLOAD_FLAG.originator, items: FIN }])
  })

  it('at its host by nothing else, and at its client by no word of the host', () => {
    const host = endOf('terminator')
    host.write('waits')
    host.hear({ body: 'no start' })
    expect([host.read(), host.left()]).toEqual([['data no start'], []])
    const client = endOf('initiator')
    client.write('waits')
    client.hear(START)
    expect([client.read(), client.left()]).toEqual([[], []])
  })

  it('at its host within three minutes, or never', () => {
    const { end, over } = endOf('terminator', { begunAt: 500 })
    end.tick(500 + START_WAIT_MS)
    expect(over).toEqual([])
    end.tick(501 + START_WAIT_MS)
    expect(over).toEqual(['never-started'])
    const client = endOf('initiator')
    client.end.tick(START_WAIT_MS + 1)
    expect(client.over).toEqual([])
  })
})

describe('an end takes', () => {
  it.each([
    ['its own payload', 'initiator', { flags: PAYLOAD_FLAG.originator }, []],
    ['its own payload', 'terminator', {}, []],
    ['a payload of another circuit', 'initiator', { circuitId: 'other' }, []],
    ['a part of a payload', 'initiator', { flags: PAYLOAD_FLAG.chunk }, ['not-understood']],
  ] as const)('no bytes of %s, as the %s', (what, side, payload, reasons) => {
    const { end, over, acknowledged, calls, hear, read } = endOf(side)
    const isOwn = what === 'its own payload'
    const flags = side === 'initiator' ? 0 : PAYLOAD_FLAG.originator
    if (isOwn)
      end.takePayload({ circuitId: 'c', sequence: 0, items: new Map(), sentAt: 0, body: Uint8Array.of(1), flags }, 0)
    else hear({ ...payload, body: 'hi' })
    end.acknowledge()
    expect([calls.readable, read(), acknowledged, over]).toEqual([0, [], [], reasons])
  })

  it('no acknowledgement of another circuit, or of its own side, or after its end', () => {
    const { end, left, write } = endOf('initiator')
    end.start(0)
    write('x')
    const good = { circuitId: 'c', sequences: [0, 1], fromOriginator: true, bufferedBytes: 0, sentAt: undefined }
    end.takeAcknowledgement({ ...good, circuitId: 'other' }, 0)
    end.takeAcknowledgement({ ...good, fromOriginator: false }, 0)
    expect([end.heldBytes, end.isQuiet]).toEqual([ANNOUNCED + cost(1), false])
    end.takeAcknowledgement(good, 0)
    expect([end.heldBytes, end.isQuiet]).toEqual([0, true])
    left()
    end.abort()
    end.takeAcknowledgement(good, 0)
    expect(left()).toEqual([])
    const host = endOf('terminator')
    host.hear(START)
    host.read()
    host.write('y')
    host.end.takeAcknowledgement(good, 0)
    expect(host.end.heldBytes).toBe(ANNOUNCED + cost(1))
    host.end.takeAcknowledgement({ ...good, fromOriginator: false }, 0)
    expect(host.end.heldBytes).toBe(0)
  })

  it('payloads in order, and acknowledges them together with the time of the last one', () => {
    const { end, acknowledged, calls, hear, read, confirm } = endOf('initiator')
    end.start(0)
    confirm()
    expect(end.isQuiet).toBe(true)
    hear({ body: 'a', sentAt: 1 })
    hear({ body: 'b', sentAt: 2 })
    expect([calls.readable, end.isQuiet, end.heldBytes]).toEqual([2, false, 2 * cost(1)])
    end.acknowledge()
    expect(end.isQuiet).toBe(true)
    end.acknowledge()
    expect(acknowledged).toEqual([
      { circuitId: 'c', sequences: [0, 1], fromOriginator: false, bufferedBytes: 2 * cost(1), sentAt: 2 },
    ])
    expect(read()).toEqual(['data a', 'data b'])
  })

  it('a repetition without a reading, and acknowledges it again', () => {
    const { end, acknowledged, calls, hear, read } = endOf('initiator')
    end.start(0)
    hear({ body: 'a' })
    hear({ sequence: 0, body: 'a' })
    end.acknowledge()
    expect([calls.readable, read(), acknowledged.map(({ sequences }) => sequences)]).toEqual([1, ['data a'], [[0, 0]]])
  })

  it('more once its reader has gone on, of which a peer learns that was told of much', () => {
    const { end, acknowledged, hear, read } = endOf('initiator', {
      receiver: { ...LIMITS.receiver, readyBytes: 20_000 },
    })
    end.start(0)
    for (const sequence of [0, 1]) hear({ sequence, body: 'x'.repeat(10_000) })
    end.acknowledge()
    read()
    expect(acknowledged.map(({ sequences, bufferedBytes }) => [sequences, bufferedBytes])).toEqual([
      [[0, 1], 2 * cost(10_000)],
      [[], 0],
    ])
  })

  it('nothing without room, of which its peer learns', () => {
    const { end, acknowledged, calls, hear } = endOf('terminator')
    hear({ sequence: 11 })
    expect([calls.readable, end.isQuiet]).toEqual([0, false])
    end.tick(0)
    end.tick(0)
    expect(acknowledged).toEqual([
      { circuitId: 'c', sequences: [], fromOriginator: true, bufferedBytes: 0, sentAt: undefined },
    ])
  })
})

describe('a reading', () => {
  it.each([
    ['bytes and the end of their direction', [{ body: 'a', flags: PAYLOAD_FLAG.endOfInput }], ['data a', 'end']],
    ['bytes and the end by a flag of the edge', [{ body: 'a', items: FIN }], ['data a', 'end']],
    ['the end by a flag of the edge', [{ items: FIN }], ['end']],
    ['flags of the edge without bytes', [{ items: new Map([[16, Uint8Array.of(4)]]) }], ['data ']],
    ['no flags of the edge', [{ items: new Map([[16, new Uint8Array(0)]]) }], ['data ']],
    ['items of the ends alone', [{ items: CAPABILITIES }, { body: 'a' }], ['data a']],
    ['bytes after the end', [{ flags: PAYLOAD_FLAG.endOfInput }, { body: 'late' }, { items: FIN }], ['end']],
    [
      'bytes and the end of the circuit',
      [{ body: 'a', flags: PAYLOAD_FLAG.circuitEnd }, { body: 'b' }],
      ['data a', 'closed'],
    ],
    [
      'the end of the circuit after that of the direction',
      [{ flags: PAYLOAD_FLAG.endOfInput }, { flags: PAYLOAD_FLAG.circuitEnd }],
      ['end', 'closed'],
    ],
  ])('has %s', (_, payloads, words) => {
    const { end, hear, read } = endOf('initiator')
    end.start(0)
    for (const payload of payloads) hear(payload)
    expect(read()).toEqual(words)
    expect(read()).toEqual([])
  })
})

describe('a direction ends', () => {
  it('after what was written, by a flag that the peer understands', () => {
    const { end, hear, read, left, confirm, write, calls } = endOf('initiator')
    end.start(0)
    hear({ items: CAPABILITIES })
    read()
    expect([write('x'.repeat(1100)), write('last'), calls.writable]).toEqual([true, false, 1])
    end.finish(0)
    end.finish(0)
    expect(write('lost')).toBe(true)
    expect(confirm()).toEqual([0, 1])
    expect(left()).toMatchObject([{ sequence: 2 }, { sequence: 3, flags: PAYLOAD_FLAG.endOfInput, items: new Map() }])
    // Its writer may hold others up until the last chunk has gone.
    expect(calls.writable).toBe(2)
  })

  it('and the other one goes on', () => {
    const { end, hear, read, confirm } = endOf('initiator')
    end.start(0)
    end.finish(0)
    confirm()
    hear({ body: 'more' })
    expect([read(), end.isOver]).toEqual([['data more'], false])
  })

  it('without a word more where the peer reads no longer', () => {
    const { end, hear, read, left, confirm, write, calls } = endOf('initiator')
    end.start(0)
    confirm()
    write('x'.repeat(1100))
    write('waits')
    const before = calls.writable
    hear({ flags: PAYLOAD_FLAG.writeFailed, body: 'a' })
    expect([read(), end.heldBytes, end.waitingBytes, calls.writable - before]).toEqual([['data a'], 0, 0, 1])
    left()
    expect([write('lost'), left()]).toEqual([true, []])
  })
})

describe('a writer that waits for room', () => {
  it('is told at once when the peer ends the circuit, and not when the end has lingered', () => {
    const { end, hear, read, write, calls, over } = endOf('initiator')
    end.start(0)
    write('x'.repeat(1100))
    for (const word of ['waits', 'waits too']) expect(write(word)).toBe(false)
    const before = calls.writable
    hear({ flags: PAYLOAD_FLAG.circuitEnd })
    expect([read(), end.waitingBytes, calls.writable - before, over]).toEqual([['closed'], 0, 1, []])
  })

  it('is counted by what its chunks cost, those without a body too', () => {
    const { end } = endOf('terminator')
    const flags = new Map([[PAYLOAD_ITEM.edgeFlags, Uint8Array.of(2, 0, 0, 0)]])
    for (let count = 0; count < 1000; count += 1) end.write({ items: flags, body: new Uint8Array(0) }, 0)
    expect(end.waitingBytes).toBe(1000 * (cost(0) + cost(4)))
  })
})

describe('both directions are over', () => {
  /** A client that ended and was heard, and whose peer ended at `at`. */
  function finished(at: number) {
    const all = endOf('initiator')
    all.end.start(0)
    all.end.finish(0)
    all.confirm()
    all.hear({ flags: PAYLOAD_FLAG.endOfInput }, at)
    expect(all.read(at)).toEqual(['end'])
    return all
  }

  it('and the end answers for five seconds more, then says once that the circuit ends', () => {
    const { end, over, left, acknowledged } = finished(100)
    end.tick(100 + LINGER_MS - 1)
    expect([end.isOver, end.isQuiet, left(), acknowledged.length]).toEqual([false, false, [], 1])
    end.tick(100 + LINGER_MS)
    expect([over, end.isOver, end.isQuiet]).toEqual([['closed'], true, true])
    expect(left()).toMatchObject([{ flags: PAYLOAD_FLAG.circuitEnd }])
    end.tick(1_000_000)
    expect([over, left()]).toEqual([['closed'], []])
  })

  it('and each repetition is answered for five seconds, for half a minute in all', () => {
    const { end, hear, over, acknowledged } = finished(100)
    for (const now of [4000, 8000, 12_000, 16_000, 20_000, 24_000, 28_000]) {
      end.tick(now)
      hear({ sequence: 0 }, now)
    }
    end.tick(100 + CLOSE_WAIT_MS - 1)
    expect([over, acknowledged.length]).toEqual([[], 8])
    end.tick(100 + CLOSE_WAIT_MS)
    expect(over).toEqual(['closed'])
  })

  it('and a close of its owner is done at once where the peer had all', () => {
    const { end, over, left } = finished(0)
    end.close(10)
    expect([over, left()]).toEqual([[], []])
    end.tick(LINGER_MS)
    expect(over).toEqual(['closed'])
  })

  it('where the end of the peer is read before that of this side is acknowledged', () => {
    const { end, hear, read, confirm, over } = endOf('initiator')
    end.start(0)
    hear({ flags: PAYLOAD_FLAG.endOfInput })
    read()
    end.finish(0)
    end.tick(1)
    expect(over).toEqual([])
    confirm(200)
    end.tick(200 + LINGER_MS - 1)
    expect(over).toEqual([])
    end.tick(200 + LINGER_MS)
    expect(over).toEqual(['closed'])
  })
})

describe('a circuit is closed', () => {
  it('when its peer has acknowledged that it ends', () => {
    const { end, over, confirm, sent, write } = endOf('initiator')
    end.start(0)
    write('last')
    end.close(0)
    expect(sent.map(({ flags }) => flags)).toEqual([PAYLOAD_FLAG.circuitStart, 0, PAYLOAD_FLAG.circuitEnd])
    expect([over, end.isQuiet]).toEqual([[], false])
    confirm()
    expect([over, sent]).toEqual([['closed'], []])
  })

  it('after half a minute whatever the peer does, and not later by a second close', () => {
    const { end, over, left } = endOf('initiator')
    end.start(0)
    end.close(1000)
    end.close(20_000)
    end.tick(1000 + CLOSE_WAIT_MS - 1)
    expect(over).toEqual([])
    left()
    end.tick(1000 + CLOSE_WAIT_MS)
    expect(over).toEqual(['closed'])
    expect(left().at(-1)).toMatchObject({ flags: PAYLOAD_FLAG.circuitEnd })
  })

  it('without a last word to a peer that was given up', () => {
    const { end, over, left } = endOf('initiator')
    end.start(0)
    end.close(170_000)
    left()
    end.tick(300_000)
    expect([over, left()]).toEqual([['peer-silent'], []])
  })

  it('and reads in vain from then on: the peer is answered, and nobody is told', () => {
    const { end, hear, read, calls, acknowledged, write } = endOf('initiator')
    end.start(0)
    write('x'.repeat(300))
    hear({ body: 'unread' })
    end.acknowledge()
    end.close(0)
    // The window is full: the end of the circuit waits.
    expect(end.heldBytes).toBe(ANNOUNCED + cost(300))
    hear({ body: 'late' })
    end.acknowledge()
    expect([calls.readable, read(), end.heldBytes]).toEqual([1, [], ANNOUNCED + cost(300)])
    expect(acknowledged.map(({ sequences }) => sequences)).toEqual([[0], [1]])
  })

  it('by its peer: what waits is dropped, and the end answers for five seconds', () => {
    const { end, hear, read, over, calls, write, left } = endOf('initiator')
    end.start(0)
    write('x'.repeat(1100))
    write('waits')
    hear({ flags: PAYLOAD_FLAG.circuitEnd }, 50)
    expect([read(50), end.heldBytes, end.isOver]).toEqual([['closed'], 0, false])
    hear({ body: 'after' }, 60)
    expect([calls.readable, read(60)]).toEqual([1, []])
    left()
    end.tick(50 + LINGER_MS - 1)
    expect(over).toEqual([])
    end.tick(50 + LINGER_MS)
    expect(over).toEqual(['closed'])
  })

  it('by nobody after it was aborted, and takes nothing more', () => {
    const { end, over, hear, read, write, left, acknowledged } = endOf('initiator')
    end.start(0)
    hear({ body: 'unread' })
    left()
    end.abort()
    end.abort('peer-silent')
    end.close(0)
    end.finish(0)
    end.tick(1_000_000)
    end.acknowledge()
    hear({ body: 'late' })
    expect([over, read(), write('lost'), left(), acknowledged]).toEqual([['aborted'], [], true, [], []])
    expect([end.isOver, end.isQuiet, end.heldBytes, end.waitingBytes]).toEqual([true, true, 0, 0])
  })
})
