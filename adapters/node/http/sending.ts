import type { ServerResponse } from 'node:http'
import type { FairCapacity } from '../../../src/concurrency/fair-capacity.ts'

/** What clients may have of a server while they read its answers. */
export interface Reading {
  /** The memory, in bytes, of answers that have not been sent. */
  readonly capacity: FairCapacity
  /** The network that this one counts for. */
  readonly network: string
  /** How long (ms) any answer may take to be read. */
  readonly timeoutMs: number
  /** What a long answer has beside that time: a second for each so many bytes. */
  readonly bytesPerSecond: number
}

/** Whether somebody still waits for this response, and it has not been started. */
export function isListening(outgoing: ServerResponse): boolean {
  return !outgoing.destroyed && !outgoing.headersSent && !outgoing.writableEnded
}

/**
 * Counts bytes that wait for a client until what is answered is called: the client loses its connection when others need their
 * memory, or when it takes too long to read them.
 */
export function awaitReading(outgoing: ServerResponse, length: number, reading: Reading | undefined): () => void {
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
export function drained(outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed || !outgoing.writableNeedDrain) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.once('drain', done).once('close', done)
  })
}
