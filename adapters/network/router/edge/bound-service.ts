import type { PeerData } from '../../../../src/control-channel.ts'
import { bodyOf, EDGE_HEADER, textIn } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, readText, readUint32 } from '../../channel/header-values.ts'
import { claimIn } from './edge-admission.ts'
import type { EdgeConnection } from './edge-connection.ts'
import { type Endpoint, sharedByHost } from './endpoint.ts'

type Precedence = 'default' | 'required' | 'failed'

const PRECEDENCES: readonly Precedence[] = ['default', 'required', 'failed']

/** A service that an endpoint hosts: its terminator. */
export interface BoundService {
  readonly kind: 'bound'
  readonly host: Endpoint<EdgeConnection | BoundService>
  readonly connectionId: number
  readonly terminatorId: string
  /** As the endpoint sent it: it expects the same bytes with every dial. */
  readonly token: Uint8Array
  /** The service, as far as the token tells; else empty. */
  readonly serviceId: string
  /** Of the service session whose token it is, as far as the token tells; empty for others. */
  readonly sessionId: string
  readonly listener: string
  readonly instanceId: string
  readonly instanceSecret: Uint8Array
  /** Sent to each dialer: the key of the host, and the named values of later versions. */
  readonly peerData: PeerData
  /** The router chooses the ids of connections that are dialed to it; else the endpoint does. */
  readonly assignsIds: boolean
  readonly usesXgress: boolean
  /** Epoch ms. */
  readonly boundAt: number
  /** Whether the model here has shown a policy that grants it. */
  isGranted: boolean
  cost: number
  precedence: Precedence
  /** The values that the controller took, once it has the terminator. */
  taken: { readonly cost: number | undefined; readonly precedence: Precedence | undefined } | undefined
  /** The controller is being told of changed values. */
  isBeingTold: boolean
  /** The controller has the terminator. */
  isEstablished: boolean
  /** No controller took it again yet, and it is offered once more after a pause. */
  isOwed: boolean
}

/** Reads the bind of an endpoint; `now` is epoch ms. */
export function readBind(
  host: BoundService['host'],
  message: Frame,
  {
    connectionId,
    terminatorId,
    now,
  }: { readonly connectionId: number; readonly terminatorId: string; readonly now: number },
): BoundService {
  const { headers } = message
  return {
    kind: 'bound',
    host,
    connectionId,
    terminatorId,
    token: bodyOf(message),
    serviceId: claimIn(textIn(message), 'sub'),
    sessionId: claimIn(textIn(message), 'jti'),
    listener: listenerKey(host, message),
    instanceId: readText(headers, EDGE_HEADER.instance) ?? '',
    instanceSecret: headers.get(EDGE_HEADER.instanceSecret) ?? new Uint8Array(0),
    peerData: sharedByHost(message),
    assignsIds: readBool(headers, EDGE_HEADER.assignedConnection) ?? false,
    usesXgress: readBool(headers, EDGE_HEADER.usesXgress) ?? false,
    boundAt: now,
    isGranted: false,
    cost: readCost(headers),
    precedence: readPrecedence(headers),
    taken: undefined,
    isBeingTold: false,
    isEstablished: false,
    isOwed: false,
  }
}

/** Binds of one listener have one key; without a listener id, those of one session under one name. */
export function listenerKey({ client }: BoundService['host'], message: Frame): string {
  const { identityId } = client.session
  const listener = message.headers.get(EDGE_HEADER.listener)
  if (listener !== undefined) return `${identityId} ${Buffer.from(listener).toString('hex')}`
  const instance = readText(message.headers, EDGE_HEADER.instance) ?? ''
  return `${identityId} ${textIn(message)} ${instance}`
}

/** Of two bytes, or four. */
export function readCost(headers: ReadonlyMap<number, Uint8Array>): number {
  return (readUint32(headers, EDGE_HEADER.cost) ?? 0) & 0xff_ff
}

export function readPrecedence(headers: ReadonlyMap<number, Uint8Array>): Precedence {
  return PRECEDENCES[headers.get(EDGE_HEADER.precedence)?.[0] ?? 0] ?? 'default'
}
