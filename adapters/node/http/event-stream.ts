import type { ServerResponse } from 'node:http'
import { onClosing } from '../sockets/closing.ts'
import { isListening, type UnsentShare } from './sending.ts'

/** An answer that goes on being written. */
export interface SentStream {
  readonly status: number
  /** Alternating names and values. */
  readonly headers: readonly string[]
  readonly stream: ReadableStream<Uint8Array>
}

/**
 * Sends an answer piece by piece, each when the client has taken the one before, and resolves when it is over. It ends with
 * its stream, with its client, or with its server.
 */
export async function sendStream(
  { status, headers, stream }: SentStream,
  outgoing: ServerResponse,
  unsent?: UnsentShare,
): Promise<void> {
  const reader = stream.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  if (!isListening(outgoing)) return stop()
  outgoing.once('close', stop)
  onClosing(outgoing, stop)
  try {
    outgoing.writeHead(status, [...headers])
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if (outgoing.write(piece.value)) continue
      const holder = unsent?.capacity.enter(unsent.network, () => outgoing.destroy())
      holder?.take(piece.value.length)
      await drained(outgoing)
      holder?.leave()
    }
    outgoing.end()
  } catch {
    // The client sees that it was cut, and asks again.
    outgoing.destroy()
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.once('drain', done).once('close', done)
  })
}
