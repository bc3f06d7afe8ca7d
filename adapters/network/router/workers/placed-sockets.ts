import type { Duplex } from 'node:stream'
import { networkOf } from '../../../../src/base/addresses.ts'
import { createFairCapacity } from '../../../../src/concurrency/fair-capacity.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { EDGE_HEADER } from '../../channel/edge-messages.ts'
import { FRAME_PREFIX_BYTES, type Frame, FrameReader, frameBytes } from '../../channel/frame.ts'
import { readBool, readText } from '../../channel/header-values.ts'
import { SETUP_MS } from '../state/opened-socket.ts'
import { dialWorker, type SocketFacts, takeBytes } from './worker-door.ts'
import type { FromWorker } from './worker-messages.ts'

/** The parts of a worker that place sockets of endpoints. */
interface PlacedSocketsParts {
  send(message: FromWorker): void
  /** The path to the worker that has the other sockets of a channel; undefined where no worker has any. */
  where(groupId: string): Promise<string | undefined>
  /** Takes the socket of an endpoint, which is paused and has its first message. */
  accept(stream: Duplex, facts: SocketFacts): void
}

/** The most bytes of a first message. */
const LIMITS = { headers: 32_768, body: 4096 }
/** Milliseconds that a peer has to take the last bytes. */
const ENDING_MS = 2000
/** Sockets before their first message, from all IP networks and from one. */
const PLACES = { total: 512, perNetwork: 256 }

/**
 * Brings all sockets of an endpoint's channel to one worker. The system hands connections out without knowing which channel they belong to, and
 * only the first message tells: a socket whose channel is at another worker is passed on to it, decrypted, over a socket of this machine.
 */
export class PlacedSockets {
  readonly #parts: PlacedSocketsParts
  readonly #places = createFairCapacity(PLACES)
  /** The open sockets of each channel of several. */
  readonly #groups = new Map<string, number>()

  constructor(parts: PlacedSocketsParts) {
    this.#parts = parts
  }

  /** Takes a socket after its handshake. */
  take(stream: Duplex, facts: SocketFacts): void {
    const place = this.#places.enter(networkOf(facts.remoteHost), () => stream.destroy())
    const cancel = runtime.timer(SETUP_MS, () => stream.destroy())
    const settle = () => {
      cancel()
      place.leave()
    }
    stream.once('close', settle)
    place.take(1)
    takeBytes(stream, helloBytes, (bytes) => {
      stream.off('close', settle)
      settle()
      stream.unshift(bytes)
      void this.#place(stream, facts, bytes)
    })
  }

  /** A socket of a channel of several is at this worker from now on. */
  #join(stream: Duplex, id: string, remoteHost: string): void {
    const before = this.#groups.get(id) ?? 0
    this.#groups.set(id, before + 1)
    if (before === 0) this.#parts.send({ type: 'group', id, isHere: true, remoteHost })
    stream.once('close', () => {
      const left = (this.#groups.get(id) ?? 1) - 1
      this.#groups.set(id, left)
      if (left > 0) return
      this.#groups.delete(id)
      this.#parts.send({ type: 'group', id, isHere: false, remoteHost })
    })
  }

  async #place(stream: Duplex, facts: SocketFacts, bytes: Uint8Array): Promise<void> {
    const { id, isFirst } = groupIn(bytes)
    if (id !== undefined && !this.#groups.has(id) && !isFirst) {
      const path = await this.#parts.where(id)
      if (stream.destroyed) return
      if (path !== undefined) return passOn(stream, path, { kind: 'endpoint', facts })
    }
    if (id !== undefined) this.#join(stream, id, facts.remoteHost)
    this.#parts.accept(stream, facts)
  }
}

/** Passes the bytes of a socket on to another worker, both ways. */
export async function passOn(
  stream: Duplex,
  path: string,
  preface: { readonly kind: 'endpoint' | 'link'; readonly facts: SocketFacts },
): Promise<void> {
  try {
    const onward = await dialWorker(path, preface)
    if (stream.destroyed) return void onward.destroy()
    onward.once('close', () => endWithin(stream))
    stream.once('close', () => endWithin(onward))
    stream.pipe(onward)
    onward.pipe(stream)
  } catch {
    stream.destroy()
  }
}

/** Ends a stream after the bytes that were written to it: the last ones may say why the other side ended. */
function endWithin(stream: Duplex): void {
  if (stream.destroyed) return
  const cancel = runtime.timer(ENDING_MS, () => stream.destroy())
  stream.once('close', cancel)
  stream.end()
}

/** The channel of several sockets that a first message names, if any. */
function groupIn(bytes: Uint8Array): { readonly id: string | undefined; readonly isFirst: boolean } {
  const frame = firstIn(bytes)
  const isGrouped = frame !== undefined && readBool(frame.headers, EDGE_HEADER.isGrouped) === true
  const id = isGrouped ? readText(frame.headers, EDGE_HEADER.connectionId) : undefined
  return {
    id: id === '' ? undefined : id,
    isFirst: isGrouped && readBool(frame.headers, EDGE_HEADER.isFirstOfGroup) === true,
  }
}

function firstIn(bytes: Uint8Array): Frame | undefined {
  const reader = new FrameReader(LIMITS)
  try {
    reader.add(bytes.slice())
    return reader.next()
  } catch {
    return undefined
  }
}

/** The bytes of a first message; 0 for a message beyond the limits, which ends the connection. */
function helloBytes(bytes: Uint8Array): number | undefined {
  if (bytes.length < FRAME_PREFIX_BYTES) return undefined
  const length = frameBytes(bytes)
  return length > FRAME_PREFIX_BYTES + LIMITS.headers + LIMITS.body ? 0 : length
}
