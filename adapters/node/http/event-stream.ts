import type { ServerResponse } from 'node:http'
import { onClosing } from '../sockets/closing.ts'
import { awaitReading, drained, isListening, type Reading } from './sending.ts'

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
  reading?: Reading,
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
      const hasRead = awaitReading(outgoing, piece.value.length, reading)
      await drained(outgoing)
      hasRead()
    }
    outgoing.end()
  } catch {
    // The client sees that it was cut, and asks again.
    outgoing.destroy()
  }
}
