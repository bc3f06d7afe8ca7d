import type { FromRouter } from '../../../../src/control-channel.ts'
import type { Frame } from '../../channel/frame.ts'
import { readText, readUint32 } from '../../channel/header-values.ts'
import { HEADER } from './content-types.ts'

/** Causes by their numbers on the wire. */
export const ROUTE_FAILURES = [
  'generic',
  'invalid-terminator',
  'misconfigured-terminator',
  'dial-timed-out',
  'connection-refused',
  'rejected-by-application',
  'dns-failure',
  'port-not-allowed',
  'invalid-link',
  'no-resources',
] as const

/** Header values that say something of the result or of the frame; every other one is data for the peer. */
const OWN: ReadonlySet<number> = new Set([
  HEADER.replyFor,
  HEADER.heartbeat,
  HEADER.heartbeatResponse,
  HEADER.routeAttempt,
  HEADER.routeSuccess,
  HEADER.routeError,
  HEADER.routeErrorCode,
])

/** Reads the answer of a router to a route: everything but the id of the circuit stands in headers. */
export function readRouteResult({ headers, body: [circuitId = new Uint8Array(0)] }: Frame): FromRouter {
  return {
    type: 'route-result',
    circuitId: new TextDecoder().decode(circuitId),
    attempt: readUint32(headers, HEADER.routeAttempt) ?? 0,
    success: headers.has(HEADER.routeSuccess),
    cause: ROUTE_FAILURES[readUint32(headers, HEADER.routeErrorCode) ?? 0] ?? 'generic',
    message: readText(headers, HEADER.routeError) ?? '',
    peerData: new Map([...headers].filter(([key]) => key > 0 && !OWN.has(key))),
  }
}
