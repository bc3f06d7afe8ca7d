import type { FromRouter } from '../../../../src/control-channel.ts'
import { boolHeader, bytesMapHeader, textHeader, uint32Header, uint64Header } from '../../channel/header-values.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import * as edge from './edge-definitions.ts'
import * as fabric from './fabric-definitions.ts'
import { writePosture } from './handed-on-posture.ts'
import { ModelValidated, Subscribe } from './model-definitions.ts'
import { ROUTE_FAILURES } from './route-result.ts'
import { type WireMessage, wire } from './write-message.ts'

/** Seconds for which a subscription to the model holds before it is renewed. */
const SUBSCRIPTION_SECONDS = 300
const SECOND_MS = 1000
const UTF8 = new TextEncoder()

/** Writes a message of the router `routerId`; undefined for one that has no form on the wire. */
export function writeFromRouter(message: FromRouter, routerId = ''): WireMessage | undefined {
  switch (message.type) {
    case 'fault':
      return wire(CONTENT_TYPE.fault, fabric.Fault.encode(message))
    case 'route-result':
      return routeResult(message)
    case 'metrics':
      return metrics(message, routerId)
    case 'circuit-confirmation':
      return wire(CONTENT_TYPE.circuitConfirmation, fabric.CircuitConfirmation.encode(message))
    case 'router-links': {
      const links = message.links.map(({ target: destRouterId, protocol: linkProtocol, ...link }) => {
        const connState = { stateIteration: link.stateIteration, conns: connections(link.connections) }
        return { ...link, destRouterId, linkProtocol, connState }
      })
      return wire(CONTENT_TYPE.routerLinks, fabric.RouterLinks.encode({ links, fullRefresh: message.fullRefresh }))
    }
    case 'link-state': {
      const { linkId, iteration: linkIteration, stateIteration } = message
      const connState = { stateIteration, conns: connections(message.connections) }
      return wire(CONTENT_TYPE.linkState, fabric.LinkStateUpdate.encode({ linkId, linkIteration, connState }))
    }
    case 'verify-router':
      return wire(CONTENT_TYPE.verifyRouter, fabric.VerifyRouter.encode(message))
    case 'link-listeners':
      return wire(CONTENT_TYPE.updateLinkListeners, fabric.Listeners.encode(message))
    case 'interfaces':
      return wire(CONTENT_TYPE.updateInterfaces, fabric.RouterInterfaces.encode(message))
    case 'edge-hello':
      return edgeHello(message)
    case 'connect-events': {
      const events = message.identities.map(({ identityId, connected: isConnected }) => ({ identityId, isConnected }))
      return wire(CONTENT_TYPE.connectEvents, edge.ConnectEvents.encode({ events, fullState: message.full }))
    }
    case 'api-session-heartbeat':
      return wire(CONTENT_TYPE.apiSessionHeartbeat, edge.Tokens.encode(message))
    case 'validate-sessions':
      return wire(CONTENT_TYPE.validateSessions, edge.Tokens.encode(message))
    case 'resync-api-sessions':
      return wire(CONTENT_TYPE.resyncApiSessions, edge.Reason.encode(message))
    case 'posture-reported':
    case 'posture-unwanted':
      return writePosture(message)
    case 'create-circuit':
      return createCircuit(message)
    case 'create-tunnel-circuit': {
      const { instanceId: terminatorInstanceId, ...request } = message
      return wire(
        CONTENT_TYPE.createTunnelCircuit,
        edge.CreateTunnelCircuit.encode({ ...request, terminatorInstanceId }),
      )
    }
    case 'create-terminator':
      return wire(CONTENT_TYPE.createTerminatorV2, edge.CreateTerminator.encode(message))
    case 'create-tunnel-terminator':
      return wire(CONTENT_TYPE.createTunnelTerminator, edge.CreateTunnelTerminator.encode(message))
    case 'update-terminator': {
      const { terminatorId, cost, precedence } = message
      const updates = { updateCost: cost !== undefined, updatePrecedence: precedence !== undefined }
      const body = { terminatorId, cost: cost ?? 0, precedence: precedence ?? 'default', ...updates }
      return wire(CONTENT_TYPE.updateTerminator, fabric.UpdateTerminator.encode(body))
    }
    case 'remove-terminators':
      return wire(CONTENT_TYPE.removeTerminators, fabric.TerminatorIds.encode(message))
    case 'terminators-validated':
      return wire(CONTENT_TYPE.terminatorsValidated, fabric.TerminatorStates.encode(message))
    case 'subscribe': {
      const { currentIndex, timelineId, subscriptionId } = message
      const facts = { currentIndex, timelineId, subscriptionId }
      const body = { ...facts, subscriptionDurationSeconds: SUBSCRIPTION_SECONDS, renew: currentIndex > 0 }
      return wire(CONTENT_TYPE.subscribeToModel, Subscribe.encode(body))
    }
    case 'model-validated': {
      const diffs = message.differences.map(({ kind: diffType, ...difference }) => ({ ...difference, diffType }))
      return wire(CONTENT_TYPE.modelValidated, ModelValidated.encode({ diffs }))
    }
    case 'alerts':
      return wire(CONTENT_TYPE.alerts, fabric.Alerts.encode(message))
    case 'inspected': {
      const { id, errors, values } = message
      const body = fabric.InspectResponse.encode({ success: errors.length === 0, errors, values })
      return wire(CONTENT_TYPE.inspected, body, id === '' ? [] : [[HEADER.reflected, textHeader(id)]])
    }
    case 'traces-set': {
      const { id, success, message: text } = message
      return wire(CONTENT_TYPE.result, UTF8.encode(text), [
        [HEADER.success, boolHeader(success)],
        ...(id === '' ? [] : [[HEADER.reflected, textHeader(id)] as const]),
      ])
    }
    case 'channel-trace':
      return wire(CONTENT_TYPE.channelTrace, fabric.ChannelTrace.encode(message))
    case 'controllers':
      return wire(CONTENT_TYPE.requestControllers)
    case 'quiesce':
      return wire(CONTENT_TYPE.quiesce)
    case 'dequiesce':
      return wire(CONTENT_TYPE.dequiesce)
    case 'decommission':
      return wire(CONTENT_TYPE.decommission)
    case 'extend-certificates':
      return wire(
        CONTENT_TYPE.extendCertificates,
        edge.ExtendCertificates.encode({ ...message, requireVerification: true }),
      )
    case 'confirm-certificate':
      return wire(CONTENT_TYPE.confirmCertificate, edge.ConfirmCertificate.encode(message))
    case 'unsupported':
      return undefined
  }
}

type Message<Type extends FromRouter['type']> = Extract<FromRouter, { type: Type }>

function connections(reported: Message<'link-state'>['connections']) {
  return reported.map(({ type, source: localAddr, target: remoteAddr }) => ({ type, localAddr, remoteAddr }))
}

function routeResult({ circuitId, attempt, success, cause, message, peerData }: Message<'route-result'>): WireMessage {
  const outcome: readonly (readonly [number, Uint8Array])[] = success
    ? [[HEADER.routeSuccess, boolHeader(true)], ...peerData]
    : [
        [HEADER.routeErrorCode, Uint8Array.of(ROUTE_FAILURES.indexOf(cause))],
        [HEADER.routeError, textHeader(message)],
      ]
  return wire(CONTENT_TYPE.routeResult, UTF8.encode(circuitId), [
    [HEADER.routeAttempt, uint32Header(attempt)],
    ...outcome,
  ])
}

function metrics({ nanoseconds, usage }: Message<'metrics'>, sourceId: string): WireMessage {
  const histograms = new Map([...nanoseconds].map(([name, mean]) => [name, { mean }]))
  const usageCounters = usage.map(({ circuitId, from, lengthMs, bytes: values }) => ({
    intervalStart: Math.floor(from / SECOND_MS),
    intervalLength: Math.floor(lengthMs / SECOND_MS),
    buckets: new Map([[circuitId, { values }]]),
  }))
  return wire(CONTENT_TYPE.metrics, fabric.Metrics.encode({ sourceId, histograms, usageCounters }))
}

function edgeHello({ hostname, listeners }: Message<'edge-hello'>): WireMessage {
  const written = listeners.map(({ protocol, advertise }) => {
    const [, host = '', port = '0'] = /^(.*):(\d+)$/.exec(advertise) ?? []
    const name = host.replace(/^\[|\]$/g, '')
    return { advertise: { value: `${protocol}:${advertise}`, protocol, hostname: name, port: Number(port) } }
  })
  const body = edge.ClientHello.encode({
    version: 'v2.0.0',
    hostname,
    protocols: [],
    protocolPorts: [],
    listeners: written,
  })
  return wire(CONTENT_TYPE.clientHello, body, [
    [HEADER.supportsModel, boolHeader(true)],
    [HEADER.modelIndex, uint64Header(0n)],
  ])
}

function createCircuit(request: Message<'create-circuit'>): WireMessage {
  const { sessionToken, apiSessionToken, identityId, serviceId, circuitId, instanceId, peerData } = request
  const common: readonly (readonly [number, Uint8Array])[] = [
    [HEADER.circuitPeerData, bytesMapHeader(peerData)],
    [HEADER.circuitInstanceId, textHeader(instanceId)],
    [HEADER.circuitApiSessionToken, textHeader(apiSessionToken)],
  ]
  if (sessionToken !== undefined) {
    return wire(CONTENT_TYPE.createCircuitV2, undefined, [
      ...common,
      [HEADER.circuitSessionToken, textHeader(sessionToken)],
    ])
  }
  return wire(CONTENT_TYPE.createCircuitV3, undefined, [
    ...common,
    [HEADER.circuitIdentityId, textHeader(identityId)],
    [HEADER.circuitServiceId, textHeader(serviceId)],
    ...(circuitId === undefined ? [] : [[HEADER.proposedCircuitId, textHeader(circuitId)] as const]),
  ])
}
