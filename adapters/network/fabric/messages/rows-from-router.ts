import { SECOND_MS } from '../../../../src/base/time.ts'
import type { CircuitUsage, EdgeListener, FromRouter, LinkReport, ToRouter } from '../../../../src/control-channel.ts'
import { ROUTER_VERSION } from '../../../../src/data-plane.ts'
import type { Frame } from '../../channel/frame.ts'
import { uint64Header } from '../../channel/header-values.ts'
import type { MessageOf, MessageType } from '../../channel/protobuf/index.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import * as edge from './edge-definitions.ts'
import * as fabric from './fabric-definitions.ts'
import { postureReported } from './handed-on-posture.ts'
import {
  bare,
  bool,
  bytesMap,
  type MembersOf,
  MessageCodec,
  type MessageRow,
  mapped,
  NO_BODY,
  oneOf,
  optionalText,
  row,
  text,
  textBody,
  textIfAny,
  type WireMessage,
} from './message-row.ts'
import { ModelValidated, Subscribe } from './model-definitions.ts'
import { routeResult } from './route-result.ts'

/** Seconds for which a subscription to the model holds. Deployed controllers allow six minutes at most. */
const SUBSCRIPTION_SECONDS = 300

type Members<Type extends FromRouter['type']> = MembersOf<FromRouter, Type>

const CIRCUIT_HEADERS = {
  peerData: bytesMap(HEADER.circuitPeerData),
  instanceId: text(HEADER.circuitInstanceId),
  apiSessionToken: text(HEADER.circuitApiSessionToken),
  sessionToken: optionalText(HEADER.circuitSessionToken),
  identityId: textIfAny(HEADER.circuitIdentityId),
  serviceId: textIfAny(HEADER.circuitServiceId),
  circuitId: optionalText(HEADER.proposedCircuitId),
} as const
const NAMED_BY_SESSION = { identityId: '', serviceId: '', circuitId: undefined } as const

type CircuitRow = MessageRow<Members<'create-circuit'>>

const CIRCUIT_V1: CircuitRow = mapped(
  row(CONTENT_TYPE.createCircuit, edge.CreateCircuit),
  ({ instanceId, sessionToken = '', ...request }) => ({ ...request, sessionToken, terminatorInstanceId: instanceId }),
  ({ terminatorInstanceId: instanceId, ...request }) => ({ ...NAMED_BY_SESSION, instanceId, ...request }),
)
const CIRCUIT_V2: CircuitRow = mapped(
  row(CONTENT_TYPE.createCircuitV2, NO_BODY, CIRCUIT_HEADERS),
  (request) => ({ ...request, ...NAMED_BY_SESSION }),
  ({ sessionToken = '', ...request }) => ({ sessionToken, ...request }),
)
const CIRCUIT_V3: CircuitRow = mapped(
  row(CONTENT_TYPE.createCircuitV3, NO_BODY, {
    ...CIRCUIT_HEADERS,
    identityId: text(HEADER.circuitIdentityId),
    serviceId: text(HEADER.circuitServiceId),
  }),
  (request) => request,
  (request) => ({ ...request, sessionToken: undefined }),
)

/** The members of an update of a terminator that all of its forms share. */
type WireUpdate = MessageOf<typeof edge.UpdateTunnelTerminator>

function terminatorUpdate(
  contentType: number,
  body: MessageType<WireUpdate>,
): MessageRow<Members<'update-terminator'>> {
  return mapped(
    row(contentType, body),
    ({ terminatorId, cost, precedence }) => ({
      terminatorId,
      cost: cost ?? 0,
      precedence: precedence ?? 'default',
      updateCost: cost !== undefined,
      updatePrecedence: precedence !== undefined,
    }),
    ({ terminatorId, cost, precedence, updateCost, updatePrecedence }) => ({
      terminatorId,
      cost: updateCost ? cost : undefined,
      precedence: updatePrecedence ? precedence : undefined,
    }),
  )
}
const TERMINATOR_UPDATE = terminatorUpdate(CONTENT_TYPE.updateTerminator, fabric.UpdateTerminator)

function onlyTerminator(
  contentType: number,
  body: MessageType<MessageOf<typeof fabric.TerminatorId>>,
): MessageRow<Members<'remove-terminators'>> {
  return mapped(
    row(contentType, body),
    ({ terminatorIds: [terminatorId = ''] }) => ({ terminatorId }),
    ({ terminatorId }) => ({ terminatorIds: [terminatorId] }),
  )
}
const TERMINATORS_REMOVED = row(CONTENT_TYPE.removeTerminators, fabric.TerminatorIds)

const CODEC = new MessageCodec<Exclude<FromRouter, { readonly type: 'unsupported' }>>({
  fault: mapped(
    row(CONTENT_TYPE.fault, fabric.Fault),
    ({ isUnstarted, ...fault }) => ({ ...fault, isUnstarted }),
    (fault) => fault,
  ),
  'route-result': routeResult,
  metrics: mapped(
    row(CONTENT_TYPE.metrics, fabric.Metrics),
    ({ nanoseconds, usage, sentAt }, { routerId: sourceId = '' }) => ({
      sourceId,
      timestamp: sentAt === undefined ? undefined : { seconds: Math.floor(sentAt / SECOND_MS), nanos: 0 },
      histograms: new Map([...nanoseconds].map(([name, mean]) => [name, { mean }])),
      usageCounters: usage.map(({ circuitId, from, lengthMs, bytes: values }) => ({
        intervalStart: Math.floor(from / SECOND_MS),
        intervalLength: Math.floor(lengthMs / SECOND_MS),
        buckets: new Map([[circuitId, { values }]]),
      })),
    }),
    ({ timestamp, histograms, usageCounters }) => ({
      sentAt: timestamp && timestamp.seconds * SECOND_MS,
      nanoseconds: new Map([...histograms].map(([name, { mean }]) => [name, mean])),
      usage: usageIn(usageCounters),
    }),
  ),
  'circuit-confirmation': row(CONTENT_TYPE.circuitConfirmation, fabric.CircuitConfirmation),
  'router-links': mapped(
    row(CONTENT_TYPE.routerLinks, fabric.RouterLinks),
    ({ links, fullRefresh }) => ({ links: links.map(writtenLink), fullRefresh }),
    ({ links, fullRefresh }) => ({ links: links.map(linkReport), fullRefresh }),
  ),
  'link-state': mapped(
    row(CONTENT_TYPE.linkState, fabric.LinkStateUpdate),
    ({ linkId, iteration, ...state }) => ({ linkId, linkIteration: iteration, connState: writtenState(state) }),
    ({ linkId, linkIteration, connState }) => ({ linkId, iteration: linkIteration, ...connectionsOf(connState) }),
  ),
  'verify-router': row(CONTENT_TYPE.verifyRouter, fabric.VerifyRouter),
  'link-listeners': row(CONTENT_TYPE.updateLinkListeners, fabric.Listeners),
  interfaces: row(CONTENT_TYPE.updateInterfaces, fabric.RouterInterfaces),
  'edge-hello': mapped(
    row(CONTENT_TYPE.clientHello, edge.ClientHello, {
      supportsModel: bool(HEADER.supportsModel),
      modelIndex: { key: HEADER.modelIndex, write: uint64Header, read: () => 0n },
    }),
    ({ hostname, listeners }) => ({
      version: ROUTER_VERSION,
      hostname,
      protocols: [],
      protocolPorts: [],
      listeners: listeners.map(writtenListener),
      supportsModel: true,
      modelIndex: 0n,
    }),
    (hello) => ({ hostname: hello.hostname, listeners: edgeListeners(hello) }),
  ),
  'connect-events': mapped(
    row(CONTENT_TYPE.connectEvents, edge.ConnectEvents),
    ({ identities, full }) => ({
      events: identities.map(({ identityId, connected }) => ({ identityId, isConnected: connected })),
      fullState: full,
    }),
    ({ events, fullState }) => ({
      identities: events.map(({ identityId, isConnected }) => ({ identityId, connected: isConnected })),
      full: fullState,
    }),
  ),
  'api-session-heartbeat': row(CONTENT_TYPE.apiSessionHeartbeat, edge.Tokens),
  'validate-sessions': row(CONTENT_TYPE.validateSessions, edge.Tokens),
  'resync-api-sessions': row(CONTENT_TYPE.resyncApiSessions, edge.Reason),
  'posture-reported': postureReported,
  'posture-unwanted': row(CONTENT_TYPE.postureUnwanted, textBody('apiSessionId')),
  'create-circuit': oneOf([CIRCUIT_V1, CIRCUIT_V2, CIRCUIT_V3], ({ sessionToken }) =>
    sessionToken === undefined ? CIRCUIT_V3 : CIRCUIT_V2,
  ),
  'create-tunnel-circuit': mapped(
    row(CONTENT_TYPE.createTunnelCircuit, edge.CreateTunnelCircuit),
    ({ instanceId, ...request }) => ({ ...request, terminatorInstanceId: instanceId }),
    ({ terminatorInstanceId, ...request }) => ({ ...request, instanceId: terminatorInstanceId }),
  ),
  'create-terminator': row(CONTENT_TYPE.createTerminatorV2, edge.CreateTerminator),
  'create-tunnel-terminator': row(CONTENT_TYPE.createTunnelTerminator, edge.CreateTunnelTerminator),
  'update-terminator': oneOf(
    [
      TERMINATOR_UPDATE,
      terminatorUpdate(CONTENT_TYPE.updateEdgeTerminator, edge.UpdateEdgeTerminator),
      terminatorUpdate(CONTENT_TYPE.updateTunnelTerminator, edge.UpdateTunnelTerminator),
    ],
    () => TERMINATOR_UPDATE,
  ),
  'remove-terminators': oneOf(
    [
      TERMINATORS_REMOVED,
      onlyTerminator(CONTENT_TYPE.removeTerminator, fabric.TerminatorId),
      onlyTerminator(CONTENT_TYPE.removeEdgeTerminator, edge.RemoveEdgeTerminator),
    ],
    () => TERMINATORS_REMOVED,
  ),
  'terminators-validated': row(CONTENT_TYPE.terminatorsValidated, fabric.TerminatorStates),
  subscribe: mapped(
    row(CONTENT_TYPE.subscribeToModel, Subscribe),
    // A renewal would go on where the controller is, and leave out what did not arrive.
    (from) => ({ ...from, subscriptionDurationSeconds: SUBSCRIPTION_SECONDS, renew: false }),
    ({ currentIndex, timelineId, subscriptionId }) => ({ currentIndex, timelineId, subscriptionId }),
  ),
  'model-validated': mapped(
    row(CONTENT_TYPE.modelValidated, ModelValidated),
    ({ differences }) => ({ diffs: differences.map(({ kind, ...rest }) => ({ ...rest, diffType: kind })) }),
    ({ diffs }) => ({ differences: diffs.map(difference) }),
  ),
  alerts: row(CONTENT_TYPE.alerts, fabric.Alerts),
  inspected: mapped(
    row(CONTENT_TYPE.inspected, fabric.InspectResponse, { id: textIfAny(HEADER.reflected) }),
    (answer) => ({ ...answer, success: answer.errors.length === 0 }),
    ({ id, errors, values }) => ({ id, errors, values }),
  ),
  // This is the only request to a router that is answered by a result, which repeats the id of the request.
  'traces-set': mapped(
    row(CONTENT_TYPE.result, textBody('message'), {
      success: bool(HEADER.success),
      id: optionalText(HEADER.reflected),
    }),
    ({ id, ...answer }) => ({ ...answer, id: id === '' ? undefined : id }),
    ({ id, ...answer }) => (id === undefined ? undefined : { id, ...answer }),
  ),
  'channel-trace': row(CONTENT_TYPE.channelTrace, fabric.ChannelTrace),
  controllers: bare(CONTENT_TYPE.requestControllers),
  quiesce: bare(CONTENT_TYPE.quiesce),
  dequiesce: bare(CONTENT_TYPE.dequiesce),
  decommission: bare(CONTENT_TYPE.decommission),
  'extend-certificates': mapped(
    row(CONTENT_TYPE.extendCertificates, edge.ExtendCertificates),
    (requests) => ({ ...requests, requireVerification: true }),
    (requests) => requests,
  ),
  'confirm-certificate': row(CONTENT_TYPE.confirmCertificate, edge.ConfirmCertificate),
})

/** Requests of routers that are refused as unsupported, so that no router waits in vain. */
const UNSUPPORTED: ReadonlyMap<number, string> = new Map([
  [CONTENT_TYPE.inspect, 'answer inspections'],
  [CONTENT_TYPE.createFabricTerminator, 'take terminators without an identity that hosts'],
])

/** Reads a message of a router; undefined for a kind that the controller does not take. Throws for a malformed message. */
export function readMessage(frame: Frame): FromRouter | undefined {
  const what = UNSUPPORTED.get(frame.contentType)
  return what === undefined ? CODEC.read(frame) : { type: 'unsupported', what }
}

/** Writes a message of the router `routerId`; undefined for a message without a wire form. */
export function writeFromRouter(message: FromRouter, routerId = ''): WireMessage | undefined {
  return message.type === 'unsupported' ? undefined : CODEC.write(message, { routerId })
}

/** Content types from here on belong to edge routers, which read errors in their own form. */
const EDGE_TYPES_FROM = 20_000

/**
 * Refuses a message that is not handled, so that its router does not wait in vain; undefined for an answer, because its router waits for
 * nothing.
 */
export function notTaken({ contentType, headers }: Frame, reason: string): ToRouter | undefined {
  const isAnswer = contentType === CONTENT_TYPE.result || contentType === CONTENT_TYPE.error
  if (isAnswer || headers.has(HEADER.replyFor)) return undefined
  if (contentType < EDGE_TYPES_FROM) return { type: 'result', success: false, message: reason }
  return { type: 'refusal', code: 'internal', hint: 'not-retriable', message: reason }
}

function usageIn(counters: MessageOf<typeof fabric.Metrics>['usageCounters']): readonly CircuitUsage[] {
  return counters.flatMap(({ intervalStart, intervalLength, buckets }) =>
    [...buckets].map(([circuitId, { values }]) => ({
      circuitId,
      from: intervalStart * SECOND_MS,
      lengthMs: intervalLength * SECOND_MS,
      bytes: values,
    })),
  )
}

function difference({ diffType, ...rest }: MessageOf<typeof ModelValidated>['diffs'][number]) {
  const kind = diffType === 'added' || diffType === 'removed' ? diffType : 'modified'
  return { ...rest, kind } as const
}

type WireLink = MessageOf<typeof fabric.RouterLinks>['links'][number]

function linkReport({ id, destRouterId, linkProtocol, dialAddress, iteration, connState }: WireLink): LinkReport {
  return { id, target: destRouterId, protocol: linkProtocol, dialAddress, iteration, ...connectionsOf(connState) }
}

function writtenLink({ id, target, protocol, dialAddress, iteration, ...state }: LinkReport): WireLink {
  return { id, destRouterId: target, linkProtocol: protocol, dialAddress, iteration, connState: writtenState(state) }
}

type Connections = Pick<LinkReport, 'stateIteration' | 'connections'>

function connectionsOf(state: WireLink['connState']): Connections {
  const connections = (state?.conns ?? []).map(({ type, localAddr, remoteAddr }) => {
    return { type, source: localAddr, target: remoteAddr }
  })
  return { stateIteration: state?.stateIteration ?? 0, connections }
}

function writtenState({ stateIteration, connections }: Connections): WireLink['connState'] {
  const conns = connections.map(({ type, source, target }) => ({ type, localAddr: source, remoteAddr: target }))
  return { stateIteration, conns }
}

/** The addresses at which clients reach a router; an older router sends protocols and ports beside its host name. */
function edgeListeners(hello: MessageOf<typeof edge.ClientHello>): readonly EdgeListener[] {
  const listeners = hello.listeners.flatMap((listener) => {
    const { protocol = '', hostname = '', port = 0 } = listener.advertise ?? {}
    return protocol === '' ? [] : [{ protocol, advertise: `${bracketed(hostname)}:${port}` }]
  })
  if (listeners.length > 0) return listeners
  return hello.protocols.map((protocol, position) => ({
    protocol,
    advertise: `${bracketed(hello.hostname)}:${hello.protocolPorts[position] ?? ''}`,
  }))
}

function writtenListener({ protocol, advertise }: EdgeListener) {
  const [, host = '', port = '0'] = /^(.*):(\d+)$/.exec(advertise) ?? []
  const hostname = host.replace(/^\[|\]$/g, '')
  return { advertise: { value: `${protocol}:${advertise}`, protocol, hostname, port: Number(port) } }
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
