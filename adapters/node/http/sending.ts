import type { ServerResponse } from 'node:http'
import type { FairCapacity } from '../sockets/fair-capacity.ts'

/** The memory, in bytes, of answers that have not been sent, and the network that this one counts for. */
export interface UnsentShare {
  readonly capacity: FairCapacity
  readonly network: string
}

/** Whether somebody still waits for this response, and it has not been started. */
export function isListening(outgoing: ServerResponse): boolean {
  return !outgoing.destroyed && !outgoing.headersSent && !outgoing.writableEnded
}
