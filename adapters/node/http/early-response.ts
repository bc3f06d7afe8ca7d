import type { IncomingMessage, ServerResponse } from 'node:http'
import { untilSent, webAnswer, writeHead } from './response.ts'
import { isListening } from './sending.ts'

/** How long a refused client may take to read its answer, in ms. */
const LINGER_MS = 1000
/** How much of what it still sends is read and thrown away meanwhile, in bytes. */
const LINGER_BYTES = 262_144

/**
 * Answers at once although the request has not been read to its end, then closes the connection.
 * Closing with unread bytes would reset the connection and could destroy the response on its way, so the connection
 * stays for up to a second and a little more of the body is discarded as it arrives: enough for a client that reads the
 * answer only after it has sent a body slightly too large, too little for one that never stops sending.
 */
export async function sendEarlyResponse(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const answer = await webAnswer(response)
  if (!isListening(outgoing)) return
  writeHead({ ...answer, headers: [...answer.headers, 'connection', 'close'] }, outgoing)
  const sent = untilSent(outgoing)
  outgoing.write(answer.body)
  await discard(incoming)
  outgoing.end()
  await sent
}

function discard(incoming: IncomingMessage): Promise<void> {
  if (incoming.readableEnded || incoming.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let discarded = 0
    const onData = (chunk: Uint8Array) => {
      discarded += chunk.length
      if (discarded > LINGER_BYTES) incoming.pause()
    }
    const stop = () => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', stop).off('close', stop)
      resolve()
    }
    const timer = setTimeout(stop, LINGER_MS)
    incoming.on('data', onData).on('end', stop).on('close', stop).resume()
  })
}
