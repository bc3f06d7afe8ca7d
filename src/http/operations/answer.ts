import type { Page } from '../../ports/storage.ts'

/** What a handler answers: data, response headers, or a body of its own. */
export interface Answer {
  readonly data?: unknown
  readonly page?: Page<unknown>
  readonly raw?: string | Uint8Array
  /** Text that goes on being written, of the type that the operation can produce instead. */
  readonly stream?: ReadableStream<Uint8Array>
  /** The status, where it is not the one that the declaration says. */
  readonly status?: number
  /** Members of `meta` beyond those of every answer. */
  readonly meta?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}
