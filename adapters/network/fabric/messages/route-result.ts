import type { FromRouter } from '../../../../src/control-channel.ts'
import { textIn } from '../../channel/edge-messages.ts'
import { boolHeader, readText, readUint32, textBytes, uint32Header } from '../../channel/header-values.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import { type MembersOf, type MessageRow, wire } from './message-row.ts'

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

/** The answer of a router to a route: everything but the id of the circuit stands in headers. */
export const routeResult: MessageRow<MembersOf<FromRouter, 'route-result'>> = {
  write({ circuitId, attempt, success, cause, message, peerData }) {
    const outcome: readonly (readonly [number, Uint8Array])[] = success
      ? [[HEADER.routeSuccess, boolHeader(true)], ...peerData]
      : [
          [HEADER.routeErrorCode, Uint8Array.of(ROUTE_FAILURES.indexOf(cause))],
          [HEADER.routeError, textBytes(message)],
        ]
    return wire(CONTENT_TYPE.routeResult, textBytes(circuitId), [
      [HEADER.routeAttempt, uint32Header(attempt)],
      ...outcome,
    ])
  },
  read: {
    [CONTENT_TYPE.routeResult]: (frame) => ({
      circuitId: textIn(frame),
      attempt: readUint32(frame.headers, HEADER.routeAttempt) ?? 0,
      success: frame.headers.has(HEADER.routeSuccess),
      cause: ROUTE_FAILURES[readUint32(frame.headers, HEADER.routeErrorCode) ?? 0] ?? 'generic',
      message: readText(frame.headers, HEADER.routeError) ?? '',
      peerData: new Map([...frame.headers].filter(([key]) => key > 0 && !OWN.has(key))),
    }),
  },
}
