import type { ConnectionInfo } from '../exchange/connection.ts'
import type { PlainAnswer, PlainRequest } from '../exchange/plain-exchange.ts'

/** Hears how a request is answered. */
export interface RequestWatch {
  /** An operation was found for it; `route` is the template of its path. */
  matched(requestId: string, route: string): void
  /** It could not be answered as it asked. */
  failed(error: unknown): void
}

/** A controller's HTTP function before anybody measures it. It never rejects. */
export type WatchedFetch = (
  request: PlainRequest,
  connection?: ConnectionInfo,
  watch?: RequestWatch,
) => Promise<PlainAnswer>
