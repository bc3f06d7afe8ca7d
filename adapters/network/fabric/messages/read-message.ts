import type { CircuitUsage, EdgeListener, FromRouter, LinkReport, ToRouter } from '../../../../src/control-channel.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, readBytesMap, readText } from '../../channel/header-values.ts'
import type { MessageOf, MessageType } from '../../channel/protobuf/index.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import type { ClientHello } from './edge-definitions.ts'
import * as edge from './edge-definitions.ts'
import * as fabric from './fabric-definitions.ts'
import { readPostureReported, readPostureUnwanted } from './handed-on-posture.ts'
import { ModelValidated, Subscribe } from './model-definitions.ts'
import { readRouteResult } from './route-result.ts'

type Read = (frame: Frame) => FromRouter | undefined

const SECOND_MS = 1000
/** Requests of routers that are answered as not served here, so that nobody waits in vain. */
const UNSUPPORTED: Readonly<Record<number, string>> = {
  [CONTENT_TYPE.inspect]: 'answer inspections',
  [CONTENT_TYPE.createFabricTerminator]: 'take terminators without an identity that hosts',
}

/** The message of a frame; undefined for a kind that the controller does not take. Throws for what is malformed. */
export function readMessage(frame: Frame): FromRouter | undefined {
  return READERS.get(frame.contentType)?.(frame)
}

/** Content types from here on are those of edge routers, which read errors in a form of their own. */
const EDGE_TYPES_FROM = 20_000

/**
 * Refuses a message that is not taken, so that its router does not wait in vain; undefined for what answers a message
 * of ours, which nobody waits for.
 */
export function notTaken({ contentType, headers }: Frame, reason: string): ToRouter | undefined {
  const isAnswer = contentType === CONTENT_TYPE.result || contentType === CONTENT_TYPE.error
  if (isAnswer || headers.has(HEADER.replyFor)) return undefined
  if (contentType < EDGE_TYPES_FROM) return { type: 'result', success: false, message: reason }
  return { type: 'refusal', code: 'internal', hint: 'not-retriable', message: reason }
}

const READERS: ReadonlyMap<number, Read> = new Map<number, Read>([
  [CONTENT_TYPE.fault, typed(fabric.Fault, (fault) => ({ type: 'fault', ...fault }))],
  [CONTENT_TYPE.routeResult, readRouteResult],
  [
    CONTENT_TYPE.metrics,
    typed(fabric.Metrics, ({ histograms, usageCounters }) => ({
      type: 'metrics',
      nanoseconds: meansOf(histograms),
      usage: usageIn(usageCounters),
    })),
  ],
  [CONTENT_TYPE.alerts, typed(fabric.Alerts, ({ alerts }) => ({ type: 'alerts', alerts }))],
  [
    CONTENT_TYPE.inspected,
    (frame) => {
      const { errors, values } = bodyIn(fabric.InspectResponse, frame)
      return { type: 'inspected', id: readText(frame.headers, HEADER.reflected) ?? '', errors, values }
    },
  ],
  [
    CONTENT_TYPE.result,
    // Of all requests to a router only one is answered by a result, which repeats the id of the request.
    (frame) => {
      const id = readText(frame.headers, HEADER.reflected)
      const success = readBool(frame.headers, HEADER.success) ?? false
      return id === undefined
        ? undefined
        : { type: 'traces-set', id, success, message: Buffer.concat(frame.body).toString() }
    },
  ],
  [CONTENT_TYPE.channelTrace, typed(fabric.ChannelTrace, (trace) => ({ type: 'channel-trace', ...trace }))],
  [CONTENT_TYPE.requestControllers, () => ({ type: 'controllers' })],
  [CONTENT_TYPE.quiesce, () => ({ type: 'quiesce' })],
  [CONTENT_TYPE.dequiesce, () => ({ type: 'dequiesce' })],
  [CONTENT_TYPE.decommission, () => ({ type: 'decommission' })],
  ...Object.entries(UNSUPPORTED).map(([contentType, what]) => unsupported(Number(contentType), what)),
  [
    CONTENT_TYPE.circuitConfirmation,
    typed(fabric.CircuitConfirmation, (report) => ({ type: 'circuit-confirmation', ...report })),
  ],
  [
    CONTENT_TYPE.routerLinks,
    typed(fabric.RouterLinks, ({ links, fullRefresh }) => ({
      type: 'router-links',
      fullRefresh,
      links: links.map(linkReport),
    })),
  ],
  [
    CONTENT_TYPE.linkState,
    typed(fabric.LinkStateUpdate, ({ linkId, linkIteration: iteration, connState }) => ({
      type: 'link-state',
      linkId,
      iteration,
      ...connectionsOf(connState),
    })),
  ],
  [CONTENT_TYPE.verifyRouter, typed(fabric.VerifyRouter, (question) => ({ type: 'verify-router', ...question }))],
  [
    CONTENT_TYPE.updateLinkListeners,
    typed(fabric.Listeners, ({ listeners }) => ({ type: 'link-listeners', listeners })),
  ],
  [
    CONTENT_TYPE.updateInterfaces,
    typed(fabric.RouterInterfaces, ({ interfaces }) => ({ type: 'interfaces', interfaces })),
  ],
  [
    CONTENT_TYPE.removeTerminators,
    typed(fabric.TerminatorIds, ({ terminatorIds }) => ({ type: 'remove-terminators', terminatorIds })),
  ],
  [
    CONTENT_TYPE.removeTerminator,
    typed(fabric.TerminatorId, ({ terminatorId }) => ({ type: 'remove-terminators', terminatorIds: [terminatorId] })),
  ],
  [
    CONTENT_TYPE.removeEdgeTerminator,
    typed(edge.RemoveEdgeTerminator, ({ terminatorId }) => ({
      type: 'remove-terminators',
      terminatorIds: [terminatorId],
    })),
  ],
  [
    CONTENT_TYPE.terminatorsValidated,
    typed(fabric.TerminatorStates, ({ states }) => ({ type: 'terminators-validated', states })),
  ],
  [
    CONTENT_TYPE.clientHello,
    typed(edge.ClientHello, (hello) => ({
      type: 'edge-hello',
      hostname: hello.hostname,
      listeners: edgeListeners(hello),
    })),
  ],
  [
    CONTENT_TYPE.connectEvents,
    typed(edge.ConnectEvents, ({ events, fullState }) => ({
      type: 'connect-events',
      full: fullState,
      identities: events.map(({ identityId, isConnected }) => ({ identityId, connected: isConnected })),
    })),
  ],
  [CONTENT_TYPE.apiSessionHeartbeat, typed(edge.Tokens, ({ tokens }) => ({ type: 'api-session-heartbeat', tokens }))],
  [CONTENT_TYPE.validateSessions, typed(edge.Tokens, ({ tokens }) => ({ type: 'validate-sessions', tokens }))],
  [CONTENT_TYPE.resyncApiSessions, typed(edge.Reason, ({ reason }) => ({ type: 'resync-api-sessions', reason }))],
  [CONTENT_TYPE.postureReported, readPostureReported],
  [CONTENT_TYPE.postureUnwanted, readPostureUnwanted],
  [
    CONTENT_TYPE.createCircuit,
    typed(edge.CreateCircuit, ({ terminatorInstanceId: instanceId, ...request }) => ({
      type: 'create-circuit',
      identityId: '',
      serviceId: '',
      circuitId: undefined,
      instanceId,
      ...request,
    })),
  ],
  [
    CONTENT_TYPE.createCircuitV2,
    ({ headers }) => circuitRequest(headers, readText(headers, HEADER.circuitSessionToken) ?? ''),
  ],
  [CONTENT_TYPE.createCircuitV3, ({ headers }) => circuitRequest(headers, undefined)],
  [
    CONTENT_TYPE.createTunnelCircuit,
    typed(edge.CreateTunnelCircuit, ({ terminatorInstanceId: instanceId, ...request }) => ({
      type: 'create-tunnel-circuit',
      instanceId,
      ...request,
    })),
  ],
  [
    CONTENT_TYPE.createTerminatorV2,
    typed(edge.CreateTerminator, (request) => ({ type: 'create-terminator', ...request })),
  ],
  [
    CONTENT_TYPE.createTunnelTerminator,
    typed(edge.CreateTunnelTerminator, (request) => ({ type: 'create-tunnel-terminator', ...request })),
  ],
  [CONTENT_TYPE.updateTerminator, typed(fabric.UpdateTerminator, terminatorUpdate)],
  [CONTENT_TYPE.updateEdgeTerminator, typed(edge.UpdateEdgeTerminator, terminatorUpdate)],
  [CONTENT_TYPE.updateTunnelTerminator, typed(edge.UpdateTunnelTerminator, terminatorUpdate)],
  [
    CONTENT_TYPE.extendCertificates,
    typed(edge.ExtendCertificates, (requests) => ({ type: 'extend-certificates', ...requests })),
  ],
  [
    CONTENT_TYPE.confirmCertificate,
    typed(edge.ConfirmCertificate, ({ clientCertPem }) => ({ type: 'confirm-certificate', clientCertPem })),
  ],
  [
    CONTENT_TYPE.subscribeToModel,
    typed(Subscribe, ({ currentIndex, timelineId, subscriptionId }) => ({
      type: 'subscribe',
      currentIndex,
      timelineId,
      subscriptionId,
    })),
  ],
  [
    CONTENT_TYPE.modelValidated,
    typed(ModelValidated, ({ diffs }) => ({ type: 'model-validated', differences: diffs.map(difference) })),
  ],
])

function typed<T>(type: MessageType<T>, read: (value: T) => FromRouter): Read {
  return (frame) => read(bodyIn(type, frame))
}

function bodyIn<T>(type: MessageType<T>, { body: [bytes = new Uint8Array(0)] }: Frame): T {
  return type.decode(bytes)
}

function unsupported(contentType: number, what: string): readonly [number, Read] {
  return [contentType, () => ({ type: 'unsupported', what })]
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

function meansOf(histograms: MessageOf<typeof fabric.Metrics>['histograms']): ReadonlyMap<string, number> {
  return new Map([...histograms].map(([name, { mean }]) => [name, mean]))
}

function difference({ diffType, ...rest }: MessageOf<typeof ModelValidated>['diffs'][number]) {
  const kind = diffType === 'added' || diffType === 'removed' ? diffType : 'modified'
  return { ...rest, kind } as const
}

type WireLink = MessageOf<typeof fabric.RouterLinks>['links'][number]

function linkReport(link: WireLink): LinkReport {
  const {
    id = '',
    destRouterId: target = '',
    linkProtocol: protocol = '',
    dialAddress = '',
    iteration = 0,
  } = link ?? {}
  return { id, target, protocol, dialAddress, iteration, ...connectionsOf(link?.connState) }
}

function connectionsOf(state: MessageOf<typeof fabric.LinkStateUpdate>['connState']) {
  const connections = (state?.conns ?? []).map(({ type, localAddr, remoteAddr }) => {
    return { type, source: localAddr, target: remoteAddr }
  })
  return { stateIteration: state?.stateIteration ?? 0, connections }
}

function circuitRequest(headers: Frame['headers'], sessionToken: string | undefined): FromRouter {
  const text = (key: number) => readText(headers, key) ?? ''
  return {
    type: 'create-circuit',
    sessionToken,
    apiSessionToken: text(HEADER.circuitApiSessionToken),
    identityId: text(HEADER.circuitIdentityId),
    serviceId: text(HEADER.circuitServiceId),
    circuitId: readText(headers, HEADER.proposedCircuitId),
    instanceId: text(HEADER.circuitInstanceId),
    peerData: readBytesMap(headers, HEADER.circuitPeerData),
  }
}

function terminatorUpdate(update: MessageOf<typeof edge.UpdateTunnelTerminator>): FromRouter {
  const { terminatorId, cost, precedence, updateCost, updatePrecedence } = update
  return {
    type: 'update-terminator',
    terminatorId,
    cost: updateCost ? cost : undefined,
    precedence: updatePrecedence ? precedence : undefined,
  }
}

/** Where a router is reached by clients; an older one tells protocols and ports beside its host name. */
function edgeListeners(hello: MessageOf<typeof ClientHello>): readonly EdgeListener[] {
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

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
