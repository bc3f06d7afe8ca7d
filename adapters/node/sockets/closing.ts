import type { ServerResponse } from 'node:http'

/** Emitted on a response that goes on being written, when its server closes. */
const CLOSING = 'portcullis:closing'

/** Asks a response that goes on being written to end; whoever writes one listens by {@link onClosing}. */
export function askToEnd(outgoing: ServerResponse): void {
  outgoing.emit(CLOSING)
}

/** Calls `end` when the server of a response closes. */
export function onClosing(outgoing: ServerResponse, end: () => void): void {
  outgoing.once(CLOSING, end)
}
