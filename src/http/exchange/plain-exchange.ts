import type { ConnectionInfo } from './connection.ts'

/** A request in plain values: what is asked of it, without the streams of a web `Request`. */
export interface PlainRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: Headers
  /** The whole body; `undefined` when there is none. Rejects when it cannot be read. */
  readBody(): Promise<Uint8Array | undefined> | Uint8Array | undefined
}

/** An answer in plain values. */
export interface PlainAnswer {
  readonly status: number
  /** By lower-case name, each as it may stand in a web `Headers`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null
}

/** What a controller does between a request and its answer. It never rejects. */
export type PlainFetch = (request: PlainRequest, connection?: ConnectionInfo) => Promise<PlainAnswer>
