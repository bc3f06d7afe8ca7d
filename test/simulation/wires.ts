import type { Duplex } from 'node:stream'
import type { Channel } from '../../adapters/network/channel/channel.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import type { Choices } from './choices.ts'
import type { ByteCuts } from './cut-bytes.ts'
import { NOTHING_FOLLOWS, type SimulatedTime } from './simulated-time.ts'

/** Milliseconds that a message takes at least, and by how much longer it may take. */
const LEAST_MS = 1
const SPREAD_MS = 20

/** A connection of the run, both ways. */
export interface Wire {
  /** The names of both ends. */
  readonly ends: readonly [string, string]
  /** Which ways bring nothing at present: `0` from the first end, `1` from the second. */
  readonly silent: Set<number>
  /** How much longer a message takes at present, ms. */
  slowMs: number
  /** Breaks it; some of the bytes under way still arrive, cut anywhere. An end learns of it when it sends next. */
  reset(arriving: number): void
  /** Ends it, and both ends learn of it at once. */
  end(): void
}

/** The name of a pair of ends. */
export function key(one: string, other: string): string {
  return [one, other].sort().join('~')
}

/** All connections of a run. */
export class Wires {
  readonly #time: SimulatedTime
  readonly #choices: Choices
  readonly #trace: (line: string) => void
  /** Undefined where bytes that are written at once arrive at once. */
  readonly cuts: ByteCuts | undefined
  readonly open = new Set<Wire>()
  /** Pairs of ends between which no new connection opens. */
  readonly refused = new Set<string>()
  /** Ends by the ends to which they speak in vain, as `from>to`: connections that exist, and connections that open. */
  readonly unheard = new Set<string>()

  constructor(time: SimulatedTime, choices: Choices, trace: (line: string) => void, cuts?: ByteCuts) {
    this.#time = time
    this.#choices = choices
    this.#trace = trace
    this.cuts = cuts
  }

  /** Whatever an end sends to another one arrives no more. */
  silence(from: string, to: string): void {
    this.unheard.add(`${from}>${to}`)
    for (const wire of this.between(from, to)) wire.silent.add(wire.ends.indexOf(from))
  }

  /** The silence is over: whatever was sent meanwhile arrives. */
  hear(from: string, to: string): void {
    this.unheard.delete(`${from}>${to}`)
    for (const wire of this.between(from, to)) wire.silent.delete(wire.ends.indexOf(from))
  }

  between(one: string, other: string): readonly Wire[] {
    return this.of(one).filter(({ ends }) => ends.includes(other))
  }

  /** The connections of an end, by its name. */
  of(end: string): readonly Wire[] {
    return [...this.open].filter(({ ends }) => ends.includes(end))
  }

  /** Brings the bytes of one stream to another, with delays, in order. */
  streams(ends: readonly [string, string], left: Duplex, right: Duplex): void {
    const way = this.#way<Uint8Array>(ends, (bytes, part) => bytes.subarray(0, Math.floor(bytes.length * part)))
    const sides = [left, right] as const
    for (const [side, stream] of sides.entries()) {
      const other = sides[1 - side]
      stream.on('data', (bytes: Uint8Array) => {
        for (const piece of this.cuts?.piecesOf(bytes) ?? [bytes])
          way.bring(side, piece, (arrived) => void other?.write(arrived))
      })
      stream.on('error', () => undefined)
      stream.once('end', () => way.end(side, () => void other?.end()))
      stream.once('close', () => way.end(side, () => void other?.destroy()))
    }
    way.onReset((isTold) => {
      for (const side of sides) {
        if (isTold) side.end()
        else side.destroy()
      }
    })
  }

  /** The same for messages of channels. */
  channels(ends: readonly [string, string], left: Channel, right: Channel): void {
    const way = this.#way<Frame>(ends, () => undefined)
    const sides = [left, right] as const
    for (const [side, channel] of sides.entries()) {
      const other = sides[1 - side]
      channel.listen({
        onMessage: (frame) => way.bring(side, this.cuts?.reread(frame) ?? frame, (arrived) => other?.send(arrived)),
        onClose: () => way.end(side, () => other?.close()),
      })
    }
    way.onReset(() => {
      left.destroy()
      right.destroy()
    })
  }

  #way<T extends object>(ends: readonly [string, string], cut: (piece: T, part: number) => T | undefined) {
    const queues: { readonly piece?: T; readonly deliver: () => void }[][] = [[], []]
    const due = [0, 0]
    const isOver = [false, false]
    let onReset: (isTold: boolean) => void = () => {}
    let isOpen = true
    const over = () => {
      isOpen = false
      this.open.delete(wire)
    }
    const wire: Wire = {
      ends,
      silent: new Set([0, 1].filter((side) => this.unheard.has(`${ends[side]}>${ends[1 - side]}`))),
      slowMs: 0,
      reset: (arriving) => {
        if (!isOpen) return
        this.#trace(`reset ${ends.join('~')}`)
        const [first] = queues[arriving < 0.5 ? 0 : 1] ?? []
        const last = first?.piece === undefined ? undefined : cut(first.piece, arriving)
        if (last !== undefined && first !== undefined) this.#lastOf.get(first)?.(last)
        over()
        onReset(false)
      },
      end: () => {
        if (!isOpen) return
        this.#trace(`end ${ends.join('~')}`)
        over()
        onReset(true)
      },
    }
    this.open.add(wire)
    const send = (side: number, entry: { readonly piece?: T; readonly deliver: () => void }) => {
      if (!isOpen) return
      queues[side]?.push(entry)
      const at = Math.max(due[side] ?? 0, this.#time.now + LEAST_MS + this.#choices.below(SPREAD_MS) + wire.slowMs)
      due[side] = at
      const arrive = () => {
        if (!isOpen) return NOTHING_FOLLOWS
        // A silent way keeps everything until it speaks again.
        if (wire.silent.has(side)) this.#time.after(50, arrive)
        else if (queues[side]?.[0] === entry) {
          queues[side]?.shift()
          return entry.deliver()
        } else this.#time.after(1, arrive)
        return NOTHING_FOLLOWS
      }
      this.#time.after(at - this.#time.now, arrive)
    }
    return {
      bring: (side: number, piece: T, deliver: (piece: T) => void) => {
        const entry = {
          piece,
          deliver: () => {
            this.#trace(`${ends[side]}>${ends[1 - side]} ${sizeOf(piece)}`)
            deliver(piece)
          },
        }
        this.#lastOf.set(entry, (last) => deliver(last as T))
        send(side, entry)
      },
      end: (side: number, deliver: () => void) => {
        if (isOver[side]) return
        isOver[side] = true
        send(side, {
          deliver: () => {
            deliver()
            if (isOver[0] && isOver[1]) over()
          },
        })
      },
      onReset: (work: typeof onReset) => {
        onReset = work
      },
    }
  }

  readonly #lastOf = new WeakMap<object, (piece: object) => void>()
}

function sizeOf(piece: object): string {
  if (piece instanceof Uint8Array) return String(piece.length)
  const { contentType, body } = piece as Frame
  return `${contentType}:${body.reduce((sum, { length }) => sum + length, 0)}`
}
