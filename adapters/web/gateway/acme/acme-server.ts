import type * as AcmeClient from 'acme-client'
import { DAY_MS } from '../../../../src/base/time.ts'

/** The package `acme-client`. */
export type AcmeLibrary = typeof AcmeClient

/** The server refuses one host: its order, its challenge, or its name. Other hosts may get their certificates. */
export class OrderRefused extends Error {}

/** The server is away, overwhelmed or sends nothing. It may ask for a pause. */
export class ServerAway extends Error {
  readonly retryAfterMs: number

  constructor(reason: string, retryAfterMs = 0) {
    super(reason)
    this.retryAfterMs = retryAfterMs
  }
}

/** Loads the package. Rejects with a sentence where it is not installed. */
export async function acmeLibrary(): Promise<AcmeLibrary> {
  try {
    return await import('acme-client')
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error('ACME takes the package acme-client: npm install acme-client', { cause: error })
  }
}

/** Milliseconds for the answer of one request. */
const REQUEST_MS = 30_000
/** The most bytes of an answer: a chain of certificates is a few kB. */
const MOST_BYTES = 1_048_576
const LONGEST_PAUSE_MS = DAY_MS

/**
 * Bounds the requests to a server: their time, their size, and the life of the order that they are for. The package repeats a request by
 * itself, after pauses of any length that the server names, and loses the reason where no answer came. Here such a request rejects with a
 * {@link ServerAway}. Answers a function that ends it.
 */
export function boundRequests(
  { axios }: Pick<AcmeLibrary, 'axios'>,
  directory: string,
  signal: () => AbortSignal | undefined,
  now: () => number,
): () => void {
  const { origin } = new URL(directory)
  // Without the interceptors of the package.
  const plain = axios.create({ adapter: 'http', validateStatus: null, maxRedirects: 0 })
  const id = axios.interceptors.request.use((asked) => {
    if (!URL.canParse(asked.url ?? '') || new URL(asked.url ?? '').origin !== origin) return asked
    const ends = signal()
    const adapter = async ({ url, method, headers, data }: typeof asked) => {
      const bounds = { timeout: REQUEST_MS, maxContentLength: MOST_BYTES, ...(ends && { signal: ends }) }
      const sent = plain.request({ ...bounds, ...(url && { url }), ...(method && { method }), headers, data })
      const answer = await sent.catch((error: unknown) => {
        const { message, code } = Object(error)
        throw new ServerAway(String(message || code || 'the server sent no answer'))
      })
      const { status } = answer
      if (status < 500 && status !== 429) return answer
      const detail: unknown = Reflect.get(Object(answer.data), 'detail')
      const reason = `the server answered ${status}${typeof detail === 'string' ? `: ${detail.slice(0, 500)}` : ''}`
      throw new ServerAway(reason, retryAfterMs(answer.headers['retry-after'], now()))
    }
    return Object.assign(asked, { adapter })
  })
  return () => axios.interceptors.request.eject(id)
}

/** The pause that a server asks for, in ms: seconds, or a date. */
function retryAfterMs(header: unknown, now: number): number {
  const text = String(header ?? '')
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS) : 0
}

/** Waits for a request of the package. An answer of the server that refuses it has no type of its own, and is an {@link OrderRefused} here. */
export async function refusedOr<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ServerAway) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new OrderRefused(message || 'the server gave no reason')
  }
}
