import { CHANNEL_HEADER, CHANNEL_TYPE } from './channel-numbers.ts'
import type { Message } from './conversation.ts'
import type { Frame } from './frame.ts'
import { boolHeader, uint32Header } from './header-values.ts'

/** The messages between an endpoint and an edge router, by their numbers on the wire. */
export const EDGE_TYPE = {
  hello: CHANNEL_TYPE.hello,
  result: CHANNEL_TYPE.result,
  latency: CHANNEL_TYPE.latency,
  payload: 1100,
  acknowledgement: 1101,
  circuitControl: 1102,
  circuitClose: 1103,
  connect: 60783,
  stateConnected: 60784,
  stateClosed: 60785,
  data: 60786,
  dial: 60787,
  dialSuccess: 60788,
  dialFailed: 60789,
  bind: 60790,
  unbind: 60791,
  updateBind: 60794,
  healthEvent: 60795,
  traceRoute: 60796,
  traceRouteAnswer: 60797,
  inspect: 60798,
  inspected: 60799,
  bindSuccess: 60800,
  tokenUpdated: 60801,
  tokenNotUpdated: 60802,
  updateToken: 60803,
  inspectEndpoint: 60804,
  endpointInspected: 60805,
  connectV2: 60806,
  posture: 10800,
  subscribe: 10900,
  unsubscribe: 10901,
  resyncPosture: 10902,
  serviceChanges: 10903,
  postureState: 10904,
} as const

/** The named values of those messages. */
export const EDGE_HEADER = {
  connectionId: CHANNEL_HEADER.connectionId,
  replyFor: CHANNEL_HEADER.replyFor,
  isAccepted: CHANNEL_HEADER.success,
  version: 4,
  socketType: CHANNEL_HEADER.underlayType,
  routerName: CHANNEL_HEADER.id,
  isGrouped: CHANNEL_HEADER.isGrouped,
  groupSecret: CHANNEL_HEADER.groupSecret,
  isFirstOfGroup: CHANNEL_HEADER.isFirstOfGroup,
  /** Of a latency probe the time of its sender, of data a trace id: given back, and on, as it is. */
  probe: CHANNEL_HEADER.reflected,
  connection: 1000,
  apiSessionToken: 1002,
  publicKey: 1003,
  cost: 1004,
  precedence: 1005,
  instance: 1006,
  instanceSecret: 1007,
  callerName: 1008,
  /** It says how an endpoint encrypts, each in a form of its own: routers never pass it on. */
  cryptoMethod: 1009,
  flags: 1010,
  applicationData: 1011,
  assignedConnection: 1012,
  isHealthy: 1013,
  errorCode: 1014,
  traceTimestamp: 1015,
  traceHops: 1016,
  traceHopType: 1017,
  traceHopId: 1018,
  traceQuestion: 1019,
  traceError: 1020,
  listener: 1021,
  connectionKind: 1022,
  supportsInspection: 1023,
  supportsBindSuccess: 1024,
  marker: 1025,
  circuit: 1026,
  stickiness: 1027,
  usesXgress: 1028,
  circuitOwner: 1029,
  circuitAddress: 1030,
  inspected: 1031,
  supportsPosture: 1032,
  error: 1033,
  dialerId: 1034,
  dialerName: 1035,
  service: 1036,
  serviceNaming: 1037,
  routerCapabilities: 1039,
} as const

const KNOWN_HEADERS: ReadonlySet<number> = new Set(Object.values(EDGE_HEADER))
/** The numbers that the edge gives to named values: a later version adds its own here. */
const EDGE_HEADER_RANGE = { first: 1000, last: 1099 }
/** Bytes of the named values of later versions that one message carries on; a message with more bytes loses all of these values. */
const MOST_NEWER_BYTES = 16_384

/**
 * The named values of a later version of the edge: routers carry them from one endpoint to the other as they are, so that newer
 * endpoints understand each other.
 */
export function newerHeaders(headers: ReadonlyMap<number, Uint8Array>): readonly (readonly [number, Uint8Array])[] {
  const { first, last } = EDGE_HEADER_RANGE
  const newer = [...headers].filter(([key]) => key >= first && key <= last && !KNOWN_HEADERS.has(key))
  return newer.reduce((sum, [, value]) => sum + value.length, 0) <= MOST_NEWER_BYTES ? newer : []
}

/** The named values of payloads, acknowledgements and controls of circuits. */
export const CIRCUIT_HEADER = {
  circuit: 2256,
  sequence: 2257,
  flags: 2258,
  receivedBytes: 2259,
  sentAt: 2260,
} as const

/** The kinds of connections by which an endpoint answers a router that inspects an id. */
export const CONNECTION_KIND = { unknown: 0, dial: 1, bind: 2 } as const

/** The flags of a data message. */
export const DATA_FLAG = {
  /** The sender sends nothing more. */
  end: 1,
  /** The body is a list of messages, each behind its length of two bytes. */
  isList: 16,
} as const

export const TRUE = boolHeader(true)

/** A message about one connection. Values that are undefined are left out. */
export function edgeMessage(
  contentType: number,
  connection: number,
  headers: Iterable<readonly [number, Uint8Array | undefined]> = [],
  body?: Uint8Array,
): Message {
  const given = [...headers].filter((entry): entry is readonly [number, Uint8Array] => entry[1] !== undefined)
  return {
    contentType,
    headers: new Map([[EDGE_HEADER.connection, uint32Header(connection)], ...given]),
    body: body === undefined || body.length === 0 ? [] : [body],
  }
}

/** The body of a message in one piece: always a plain array, because what is read from it is compared with other values. */
export function bodyOf({ body }: Pick<Frame, 'body'>): Uint8Array {
  if (body.length === 1 && body[0] !== undefined) return body[0]
  const { buffer, byteOffset, length } = Buffer.concat(body)
  return new Uint8Array(buffer, byteOffset, length)
}

/** The body of a message as text. */
export function textIn(message: Pick<Frame, 'body'>): string {
  return new TextDecoder().decode(bodyOf(message))
}
