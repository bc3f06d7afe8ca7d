import { z } from 'zod'
import type { FromHolder, ToHolder } from '../../../../src/control-channel.ts'
import type { Frame } from '../../channel/frame.ts'
import { readText, textBytes } from '../../channel/header-values.ts'
import type { WireMessage } from '../messages/message-row.ts'
import { ROUTE_FAILURES } from '../messages/route-result.ts'
import { readMessage, writeFromRouter } from '../messages/rows-from-router.ts'
import { readToRouter, writeMessage } from '../messages/rows-to-router.ts'

/** Content types between processes; messages of and for routers go in their own form, with the router in a header. */
export const PROCESS_TYPE = { proof: 2100, message: 2101, heartbeat: 2102 } as const
const ROUTER_HEADER = 2100

const TEXT = z.string()
const TEXTS = z.array(TEXT).readonly()
const NUMBER = z.number()
const Listener = z.object({ address: TEXT, protocol: TEXT, groups: TEXTS, localBinding: TEXT })
const Held = z.object({
  id: TEXT,
  isEdgeRouter: z.boolean(),
  fingerprint: TEXT,
  software: z.object({ version: TEXT, revision: TEXT, buildDate: TEXT, os: TEXT, arch: TEXT }),
  capabilities: z.array(NUMBER).readonly(),
  connectedAt: NUMBER,
  linkListeners: z.array(Listener).readonly(),
  terms: z.object({ cost: NUMBER, noTraversal: z.boolean() }),
  isHeard: z.boolean(),
  isQuiesced: z.boolean(),
})
const Circuit = z.object({
  id: TEXT,
  clientId: TEXT,
  sessionId: TEXT.optional(),
  serviceId: TEXT,
  terminatorId: TEXT,
  path: z.object({ routers: TEXTS, links: TEXTS, cost: NUMBER }),
  tags: z.record(TEXT, TEXT),
  createdAt: NUMBER,
})
const Cause = z.enum([...ROUTE_FAILURES, 'no-answer', 'disconnected'])
const Failure = z.enum([
  'no-terminators',
  'no-online-terminators',
  'no-terminators-here',
  'no-path',
  'routers-failed',
  'refused',
  'not-allowed',
  'client-gave-up',
])
const Hop = z.object({
  routerId: TEXT,
  link: z.object({ id: TEXT, latencyMs: NUMBER.nullable() }).nullable(),
  answeredMs: NUMBER.nullable(),
  cause: Cause.nullable(),
})
const Attempt = z.object({
  terminatorId: TEXT,
  hostId: TEXT,
  cost: NUMBER,
  askedMs: NUMBER,
  hops: z.array(Hop).readonly(),
  failure: z.object({ routerId: TEXT, cause: Cause }).nullable(),
})
const Trace = z.object({
  circuitId: TEXT,
  identityId: TEXT,
  serviceId: TEXT,
  routerId: TEXT,
  at: NUMBER,
  allowedMs: NUMBER.nullable(),
  attempts: z.array(Attempt).readonly(),
  failure: Failure.nullable(),
  refusal: TEXT.nullable(),
  tookMs: NUMBER,
})
const ToHolderText = z.discriminatedUnion('type', [
  z.object({ type: z.literal('follow'), routerId: TEXT, follows: z.boolean() }),
  z.object({
    type: z.literal('list-circuits'),
    number: NUMBER,
    circuitId: TEXT.optional(),
    sessionId: TEXT.optional(),
  }),
  z.object({ type: z.literal('end-circuit'), number: NUMBER, circuitId: TEXT, immediate: z.boolean() }),
  z.object({
    type: z.literal('change-link'),
    linkId: TEXT,
    staticCost: NUMBER.optional(),
    isDown: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('follow-dial'),
    number: NUMBER,
    identityId: TEXT,
    serviceId: TEXT,
    waitMs: NUMBER,
  }),
  z.object({ type: z.literal('unfollow-dial'), number: NUMBER }),
  z.object({ type: z.literal('own-circuits'), number: NUMBER, circuitIds: TEXTS }),
])
const FromHolderText = z.discriminatedUnion('type', [
  z.object({ type: z.literal('routers'), isFull: z.boolean(), held: z.array(Held).readonly(), gone: TEXTS }),
  z.object({
    type: z.literal('circuits'),
    number: NUMBER,
    circuits: z.array(Circuit).readonly(),
    hasMore: z.boolean(),
  }),
  z.object({ type: z.literal('circuit-ended'), number: NUMBER, wasOpen: z.boolean() }),
  z.object({ type: z.literal('dial-traced'), number: NUMBER, trace: Trace.nullable() }),
  z.object({ type: z.literal('whose-circuits'), number: NUMBER, circuitIds: TEXTS }),
])

/** Writes a message between processes; undefined for one of a router that has no form on the wire. */
export function writeProcessMessage(message: ToHolder | FromHolder): WireMessage | undefined {
  switch (message.type) {
    case 'to-router':
      return withRouter(writeMessage(message.message), message.routerId)
    case 'from-router': {
      const written = writeFromRouter(message.message, message.routerId)
      return written && withRouter(written, message.routerId)
    }
    default:
      return textMessage(PROCESS_TYPE.message, JSON.stringify(message))
  }
}

/** Writes a text, such as a proof, as a message between processes. */
export function textMessage(contentType: number, body: string): WireMessage {
  return { contentType, headers: new Map(), body: [textBytes(body)] }
}

/** The text of a message between processes. */
export function textOf({ body }: Frame): string {
  return new TextDecoder().decode(Buffer.concat(body))
}

/** Reads a message for a process that holds routers; undefined for an unknown kind. Throws for a malformed message. */
export function readToHolder(frame: Frame): ToHolder | undefined {
  const routerId = readText(frame.headers, ROUTER_HEADER)
  if (routerId === undefined) return ToHolderText.safeParse(JSON.parse(textOf(frame))).data
  const message = readToRouter(frame)
  return message && { type: 'to-router', routerId, message }
}

/** Reads a message of a process that holds routers, as {@link readToHolder} does for the other side. */
export function readFromHolder(frame: Frame): FromHolder | undefined {
  const routerId = readText(frame.headers, ROUTER_HEADER)
  if (routerId === undefined) return FromHolderText.safeParse(JSON.parse(textOf(frame))).data
  const message = readMessage(frame)
  return message && { type: 'from-router', routerId, message }
}

function withRouter({ headers, ...message }: WireMessage, routerId: string): WireMessage {
  return { ...message, headers: new Map([...headers, [ROUTER_HEADER, textBytes(routerId)]]) }
}
