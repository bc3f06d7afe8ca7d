import type { IncomingMessage } from 'node:http'

/** Whether the head of a request announces a body: without one of these headers it ends with the head (RFC 9112, 6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}
