import type { Duplex } from 'node:stream'

/** One stream through whatever carries it. */
export interface CarriedStream {
  onBytes: (bytes: Uint8Array) => void
  /** Answers whether there is room for more at once. */
  send(bytes: Uint8Array): boolean
  whenRoom(work: () => void): void
  close(): void
}

/** The other end of streams: opens them through what is measured, to a host that does as their first byte says. */
export interface Carrier {
  open(): Promise<CarriedStream>
  close(): Promise<void>
}

/** First bytes of a stream: its host sends back what follows, or sends as many bytes as the four next ones say, for each such request. */
export const ECHO = 1
const SOURCE = 2
/** Bytes of a request. */
const REQUEST = 5
/** Alone in the first bytes it is sent back, and the stream begins anew. */
export const READY = 3
const PIECE = new Uint8Array(32_768)

/** Asks a host for bytes. */
export function sourceRequest(bytes: number): Uint8Array {
  const request = new Uint8Array(REQUEST)
  request[0] = SOURCE
  new DataView(request.buffer).setUint32(1, bytes)
  return request
}

/** Is the host of a stream. */
export function serveStream(stream: CarriedStream): void {
  stream.onBytes = (first) => {
    if (first[0] === READY) return void stream.send(first)
    if (first[0] === SOURCE) {
      const view = new DataView(first.buffer, first.byteOffset, first.length)
      let bytes = 0
      for (let at = 0; at + REQUEST <= first.length; at += REQUEST) bytes += view.getUint32(at + 1)
      sendPieces(stream, bytes)
      return
    }
    stream.onBytes = (bytes) => void stream.send(bytes)
    if (first.length > 1) stream.send(first.subarray(1))
  }
}

function sendPieces(stream: CarriedStream, bytes: number): void {
  for (let left = bytes; left > 0; left -= PIECE.length) {
    const hasRoom = stream.send(left < PIECE.length ? PIECE.subarray(0, left) : PIECE)
    if (!hasRoom) {
      stream.whenRoom(() => sendPieces(stream, left - PIECE.length))
      return
    }
  }
}

/** A stream of Node as one that is carried. */
export function ofDuplex(duplex: Duplex): CarriedStream {
  const stream: CarriedStream = {
    onBytes: () => undefined,
    send: (bytes) => duplex.write(bytes),
    whenRoom: (work) => void duplex.once('drain', work),
    close: () => duplex.destroy(),
  }
  duplex.on('data', (bytes: Uint8Array) => stream.onBytes(bytes))
  duplex.on('error', () => undefined)
  return stream
}
