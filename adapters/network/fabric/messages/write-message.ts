import type { RefusalCode, ToRouter } from '../../../../src/control-channel.ts'
import { EDGE_ERROR, HINT_NUMBERS } from '../../../../src/data-plane.ts'
import { boolHeader, bytesMapHeader, textHeader, textMapHeader, uint32Header } from '../../channel/header-values.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import * as edge from './edge-definitions.ts'
import * as fabric from './fabric-definitions.ts'
import { ChangeSetFacts, StateFacts, ValidateModel } from './model-definitions.ts'

// Routers refuse for these two themselves, and tell endpoints alone.
const { 'invalid-api-session-type': _type, 'posture-check-failed': _posture, ...OF_CONTROLLERS } = EDGE_ERROR

/** The causes that a controller tells routers, by the numbers that endpoints know as well. */
export const REFUSAL_NUMBERS: Readonly<Record<RefusalCode, number>> = OF_CONTROLLERS

/** A message in the form of the wire, without the number that its channel gives it. */
export interface WireMessage {
  readonly contentType: number
  readonly headers: ReadonlyMap<number, Uint8Array>
  readonly body: readonly Uint8Array[]
}

const NANOSECONDS = 1_000_000
const UTF8 = new TextEncoder()

/** Writes a message; what it answers, the content type of the request, decides the form of some. */
export function writeMessage(message: ToRouter, answered?: number): WireMessage {
  switch (message.type) {
    case 'result':
      if (answered === CONTENT_TYPE.inspect) {
        const { success, message: text } = message
        return wire(CONTENT_TYPE.inspected, fabric.InspectResponse.encode({ success, errors: [text] }))
      }
      return result(message.success, message.message)
    case 'refusal':
      return answered === CONTENT_TYPE.updateTerminator ? result(false, message.message) : refusal(message)
    case 'route': {
      const timeout = message.timeoutMs * NANOSECONDS
      return wire(CONTENT_TYPE.route, fabric.Route.encode({ ...message, timeout }))
    }
    case 'unroute':
      return wire(CONTENT_TYPE.unroute, fabric.Unroute.encode(message))
    case 'link-fault': {
      const { linkId: id, iteration } = message
      return wire(CONTENT_TYPE.fault, fabric.Fault.encode({ subject: 'link', id, iteration }))
    }
    case 'peers':
      return wire(CONTENT_TYPE.peerStateChange, fabric.PeerStateChanges.encode(message))
    case 'controller-addresses':
      return controllerAddresses(message)
    case 'edge-hello': {
      const data = new Map([
        ['instant', 'true'],
        ['routerModel', 'true'],
      ])
      const body = edge.ServerHello.encode({ version: message.version, data })
      return wire(CONTENT_TYPE.serverHello, body, [[HEADER.supportsModel, boolHeader(true)]])
    }
    case 'api-sessions-added':
      return apiSessionsAdded(message)
    case 'api-sessions-removed':
      return wire(CONTENT_TYPE.apiSessionsRemoved, edge.TokensAndIds.encode(message))
    case 'api-sessions-updated':
      return wire(CONTENT_TYPE.apiSessionsUpdated, edge.ApiSessions.encode({ apiSessions: message.sessions }))
    case 'sessions-removed':
      // Routers go through the tokens, and take the ids for them where there are as many.
      return wire(CONTENT_TYPE.sessionsRemoved, edge.TokensAndIds.encode({ tokens: message.ids, ids: message.ids }))
    case 'posture-known':
      return wire(CONTENT_TYPE.postureKnown, UTF8.encode(JSON.stringify(message)))
    case 'circuit-created':
      return circuitCreated(message, answered)
    case 'terminator-created':
    case 'terminator-refused':
      return terminatorAnswer(message, answered)
    case 'terminator-updated':
      if (answered === CONTENT_TYPE.updateTerminator) return result(true, '')
      return wire(
        answered === CONTENT_TYPE.updateTunnelTerminator
          ? CONTENT_TYPE.tunnelTerminatorUpdated
          : CONTENT_TYPE.edgeTerminatorUpdated,
      )
    case 'validate-terminators': {
      const terminators = message.terminators.map((terminator) => ({ ...terminator, marker: 0 }))
      const { fixInvalid, asksHosts } = message
      const body = fabric.ValidateTerminators.encode({ terminators, fixInvalid, postCreate: !asksHosts })
      return wire(CONTENT_TYPE.validateTerminators, body)
    }
    case 'certificates':
      return wire(CONTENT_TYPE.certificates, edge.Certificates.encode(message))
    case 'renew-certificates':
      return wire(CONTENT_TYPE.renewCertificates, edge.RenewCertificates.encode(message))
    case 'certificate-confirmed':
      return wire(
        CONTENT_TYPE.error,
        edge.CodedError.encode({ code: message.problem ?? '', message: message.problem ?? '' }),
      )
    case 'model-state': {
      const { index: endIndex, timelineId, subscriptionId, events } = message
      const facts = StateFacts.encode({ endIndex, timelineId })
      return { contentType: CONTENT_TYPE.modelState, headers: subscription(subscriptionId), body: [...events, facts] }
    }
    case 'validate-model': {
      const pieces = [...message.events, StateFacts.encode({ endIndex: message.index })]
      const body = pieces.map((piece) => ValidateModel.encode({ state: [piece] }))
      return { contentType: CONTENT_TYPE.validateModel, headers: new Map(), body }
    }
    case 'inspect': {
      const body = fabric.InspectRequest.encode({ requestedValues: message.values })
      return wire(CONTENT_TYPE.inspect, body, [[HEADER.reflected, textHeader(message.id)]])
    }
    case 'trace-channels':
      return wire(CONTENT_TYPE.traceChannels, fabric.TraceChannels.encode(message), [
        [HEADER.reflected, textHeader(message.id)],
      ])
    case 'model-changes': {
      const body = [ChangeSetFacts.encode(message), message.events]
      return { contentType: CONTENT_TYPE.modelChanges, headers: subscription(message.subscriptionId), body }
    }
  }
}

type Message<Type extends ToRouter['type']> = Extract<ToRouter, { type: Type }>

/** A message of a content type, with headers and the bytes of its body. */
export function wire(
  contentType: number,
  body?: Uint8Array,
  headers: readonly (readonly [number, Uint8Array])[] = [],
): WireMessage {
  return { contentType, headers: new Map(headers), body: body === undefined || body.length === 0 ? [] : [body] }
}

function result(success: boolean, text: string): WireMessage {
  return wire(CONTENT_TYPE.result, UTF8.encode(text), [[HEADER.success, boolHeader(success)]])
}

function subscription(id: string): ReadonlyMap<number, Uint8Array> {
  return new Map(id === '' ? [] : [[HEADER.subscriptionId, textHeader(id)]])
}

function refusal({ message, code, hint, circuitId }: Message<'refusal'>): WireMessage {
  return wire(CONTENT_TYPE.error, UTF8.encode(message), [
    [HEADER.errorCode, uint32Header(REFUSAL_NUMBERS[code])],
    [HEADER.retryHint, uint32Header(HINT_NUMBERS[hint])],
    ...(circuitId === undefined ? [] : [[HEADER.failedCircuitId, textHeader(circuitId)] as const]),
  ])
}

function controllerAddresses({ index, isComplete, controllers }: Message<'controller-addresses'>): WireMessage {
  const body = fabric.UpdateControllerAddresses.encode({
    index,
    isLeader: isComplete,
    // Old routers read the plain list, new ones the other.
    addresses: controllers.flatMap(({ addresses }) => addresses),
    controllers: controllers.map(({ id, addresses }) => ({
      id,
      endpoints: addresses.map((address) => ({ address, groups: ['default'] })),
    })),
  })
  return wire(CONTENT_TYPE.updateControllerAddresses, body)
}

function apiSessionsAdded({ sessions: apiSessions, full }: Message<'api-sessions-added'>): WireMessage {
  const body = edge.ApiSessionsAdded.encode({ apiSessions, isFullState: full !== undefined })
  if (full === undefined) return wire(CONTENT_TYPE.apiSessionsAdded, body)
  const { syncId: id, isLast, sequence } = full
  return wire(CONTENT_TYPE.apiSessionsAdded, body, [
    [HEADER.syncStrategy, textHeader('instant')],
    [HEADER.syncState, textHeader(JSON.stringify({ id, isLast, sequence }))],
  ])
}

function circuitCreated(created: Message<'circuit-created'>, answered: number | undefined): WireMessage {
  if (answered === CONTENT_TYPE.createTunnelCircuit) {
    return wire(CONTENT_TYPE.tunnelCircuitCreated, edge.CircuitCreated.encode(created))
  }
  if (answered === CONTENT_TYPE.createCircuit) {
    return wire(CONTENT_TYPE.circuitCreated, edge.CircuitCreated.encode(created))
  }
  const isV3 = answered === CONTENT_TYPE.createCircuitV3
  return wire(isV3 ? CONTENT_TYPE.circuitV3Created : CONTENT_TYPE.circuitV2Created, undefined, [
    [HEADER.createdPeerData, bytesMapHeader(created.peerData)],
    [HEADER.createdCircuitId, textHeader(created.circuitId)],
    [HEADER.createdAddress, textHeader(created.address)],
    [HEADER.createdTags, textMapHeader(created.tags)],
  ])
}

function terminatorAnswer(
  answer: Message<'terminator-created'> | Message<'terminator-refused'>,
  answered: number | undefined,
): WireMessage {
  const { terminatorId } = answer
  const outcome =
    answer.type === 'terminator-created'
      ? { terminatorId, result: 'success' as const, startTime: answer.startTime }
      : {
          terminatorId,
          result: answer.hint === 'too-busy' ? ('busy' as const) : ('other' as const),
          msg: answer.message,
          errorCode: REFUSAL_NUMBERS[answer.code],
          retryHint: HINT_NUMBERS[answer.hint],
        }
  return answered === CONTENT_TYPE.createTunnelTerminator
    ? wire(CONTENT_TYPE.tunnelTerminatorCreated, edge.TunnelTerminatorCreated.encode(outcome))
    : wire(CONTENT_TYPE.terminatorV2Created, edge.TerminatorCreated.encode(outcome))
}
