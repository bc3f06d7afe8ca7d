import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import type { FairCapacity } from '../../../../src/concurrency/fair-capacity.ts'
import type { PlainAnswer } from '../../../../src/index.ts'
import { onClosing } from '../tracked-connections.ts'

/** How much of a long answer is written at once, in bytes. */
const PIECE_BYTES = 1_048_576

/** An answer as it is written: its headers as alternating names and values. */
export interface SentAnswer {
  readonly status: number
  /** The reason phrase, where it is not that of the status. */
  readonly statusText?: string
  readonly headers: readonly string[]
  readonly body: string | Uint8Array
}

/**
 * Sends a web `Response` and resolves once it has been handed to the network, or once the client is gone.
 * The body is sent whole with its Content-Length, never chunked unless it is a stream of events; every Set-Cookie keeps a line of its own.
 * Rejects only when the body of the response cannot be read.
 *
 * @example
 * await sendResponse(new Response('hello'), outgoing)
 */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  const stream = streamOf(response)
  if (stream !== undefined) return sendStream(stream, outgoing)
  const answer = await webAnswer(response)
  if (!isListening(outgoing)) return
  const sent = untilSent(outgoing)
  sendAnswer(answer, outgoing)
  await sent
}

/** A web response that has no end to be read to: a stream of events. */
export function streamOf({ status, headers, body }: Response): SentStream | undefined {
  if (body === null || !headers.get('content-type')?.startsWith('text/event-stream')) return undefined
  return { status, headers: [...headers].flat(), stream: body }
}

/** A web response, read to its end. */
export async function webAnswer(response: Response): Promise<SentAnswer> {
  const { status, statusText } = response
  // Set-Cookie is the one header that comes several times.
  const body = new Uint8Array(await response.arrayBuffer())
  return { status, statusText, headers: [...response.headers].flat(), body }
}

/** An answer in plain values, with its headers in the order in which web responses have them. */
export function plainAnswer({ status, headers, body }: PlainAnswer): SentAnswer | SentStream {
  const lines = Object.keys(headers)
    .sort()
    .flatMap((name) => [name, headers[name] ?? ''])
  if (body instanceof ReadableStream) return { status, headers: lines, stream: body }
  return { status, headers: lines, body: body ?? '' }
}

/**
 * Sends an answer unless the client is gone: with its head in one write, or a long one as fast as the client takes it. Its memory is
 * counted where `reading` is given. A client that reads slowly loses its connection when others need the memory. A client below the minimum
 * speed loses it in any case.
 */
export function sendAnswer(answer: SentAnswer, outgoing: ServerResponse, reading?: Reading): void {
  if (!isListening(outgoing)) return
  const length = writeHead(answer, outgoing)
  if (reading !== undefined) outgoing.once('close', awaitReading(outgoing, length, reading))
  if (length <= PIECE_BYTES) outgoing.end(answer.body)
  else void sendInPieces(bytesOf(answer.body), outgoing)
}

/** The bytes of a body. Bytes are not copied, text is encoded. */
function bytesOf(body: string | Uint8Array): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** Sends a body in pieces: a body in a single write would be held and encrypted whole. */
async function sendInPieces(body: Buffer, outgoing: ServerResponse): Promise<void> {
  for (let at = 0; at < body.length && !outgoing.destroyed; at += PIECE_BYTES) {
    outgoing.write(body.subarray(at, at + PIECE_BYTES))
    await drained(outgoing)
  }
  outgoing.end()
}

/** Writes the head of an answer, with the length of its body, which it returns in bytes. */
export function writeHead({ status, statusText, headers, body }: SentAnswer, outgoing: ServerResponse): number {
  const length = Buffer.byteLength(body)
  const lines: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (name !== 'transfer-encoding' && name !== 'content-length') lines.push(name, headers[index + 1] ?? '')
  }
  // RFC 9110: these two have no body, and 204 forbids the header.
  if (status !== 204 && status !== 304) lines.push('content-length', String(length))
  if (statusText) outgoing.writeHead(status, statusText, lines)
  else outgoing.writeHead(status, lines)
  return length
}

/** Resolves when the response is on its way or the connection is gone: a client that left is no error. */
export function untilSent(outgoing: ServerResponse): Promise<void> {
  return finished(outgoing, { readable: false }).catch(() => undefined)
}

/** The use that clients may make of a server while they read its answers. */
export interface Reading {
  /** The memory, in bytes, of answers that have not been sent. */
  readonly capacity: FairCapacity
  /** The network whose limit counts these bytes. */
  readonly network: string
  /** How long (ms) any answer may take to be read. */
  readonly timeoutMs: number
  /** Bytes of a long answer that give it another second beside that time. */
  readonly bytesPerSecond: number
}

/** Whether the client still waits for this response, and it has not been started. */
export function isListening(outgoing: ServerResponse): boolean {
  return !outgoing.destroyed && !outgoing.headersSent && !outgoing.writableEnded
}

/**
 * Counts bytes that wait for a client until the returned function is called: the client loses its connection when others need their memory,
 * or when it takes too long to read them.
 */
function awaitReading(outgoing: ServerResponse, length: number, reading: Reading | undefined): () => void {
  if (reading === undefined) return () => undefined
  const { capacity, network, timeoutMs, bytesPerSecond } = reading
  const cut = () => void outgoing.destroy()
  const holder = capacity.enter(network, cut)
  const timer = setTimeout(cut, timeoutMs + Math.floor(length / bytesPerSecond) * 1000)
  // A client that does not read keeps no process from ending.
  timer.unref()
  holder.take(length)
  return () => {
    clearTimeout(timer)
    holder.leave()
  }
}

/** Resolves when a client can take more, or is gone. */
function drained(outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed || !outgoing.writableNeedDrain) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.once('drain', done).once('close', done)
  })
}

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
