import type { RefusalCode, RetryHint, ToRouter } from '../../../../src/control-channel.ts'
import { HINT_NUMBERS } from '../../../../src/data-plane.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, readBytesMap, readText, readTextMap, readUint32 } from '../../channel/header-values.ts'
import type { MessageType } from '../../channel/protobuf/index.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import * as edge from './edge-definitions.ts'
import * as fabric from './fabric-definitions.ts'
import { readPostureKnown } from './handed-on-posture.ts'
import { ChangeSetFacts, StateFacts, ValidateModel } from './model-definitions.ts'
import { REFUSAL_NUMBERS } from './write-message.ts'

const NANOSECONDS = 1_000_000
const CONFIRMATIONS = [
  'MISSING_CLIENT_PEM',
  'INVALID_ROUTER_STATE',
  'INVALID_CLIENT_PEM',
  'VERIFY_ERROR',
  'ROUTER_NOT_FOUND',
] as const

/**
 * Reads a message of a controller; undefined for a kind that routers do not take. `asked` is the content type of the request that
 * it answers, where it answers one. Throws for what is malformed.
 */
export function readToRouter(frame: Frame, asked?: number): ToRouter | undefined {
  const { headers } = frame
  switch (frame.contentType) {
    case CONTENT_TYPE.result:
      return { type: 'result', success: readBool(headers, HEADER.success) ?? false, message: textIn(frame) }
    case CONTENT_TYPE.error:
      return asked === CONTENT_TYPE.confirmCertificate ? confirmed(frame) : refusal(frame)
    case CONTENT_TYPE.route: {
      const { timeout, ...route } = bodyOf(fabric.Route, frame)
      const { egress, ...rest } = route
      const timeoutMs = timeout / NANOSECONDS
      return { type: 'route', timeoutMs, ...rest, ...(egress === undefined ? {} : { egress }) }
    }
    case CONTENT_TYPE.unroute:
      return { type: 'unroute', ...bodyOf(fabric.Unroute, frame) }
    case CONTENT_TYPE.fault: {
      const { subject, id: linkId, iteration } = bodyOf(fabric.Fault, frame)
      return subject === 'link' ? { type: 'link-fault', linkId, iteration } : undefined
    }
    case CONTENT_TYPE.peerStateChange:
      return { type: 'peers', changes: bodyOf(fabric.PeerStateChanges, frame).changes }
    case CONTENT_TYPE.updateControllerAddresses:
      return controllerAddresses(frame)
    case CONTENT_TYPE.serverHello:
      return { type: 'edge-hello', version: bodyOf(edge.ServerHello, frame).version }
    case CONTENT_TYPE.apiSessionsAdded:
      return apiSessionsAdded(frame)
    case CONTENT_TYPE.apiSessionsUpdated:
      return { type: 'api-sessions-updated', sessions: bodyOf(edge.ApiSessions, frame).apiSessions }
    case CONTENT_TYPE.apiSessionsRemoved:
      return { type: 'api-sessions-removed', ...bodyOf(edge.TokensAndIds, frame) }
    case CONTENT_TYPE.sessionsRemoved:
      return { type: 'sessions-removed', ids: bodyOf(edge.TokensAndIds, frame).ids }
    case CONTENT_TYPE.postureKnown:
      return readPostureKnown(textIn(frame))
    case CONTENT_TYPE.circuitV2Created:
    case CONTENT_TYPE.circuitV3Created:
      return {
        type: 'circuit-created',
        circuitId: readText(headers, HEADER.createdCircuitId) ?? '',
        address: readText(headers, HEADER.createdAddress) ?? '',
        peerData: readBytesMap(headers, HEADER.createdPeerData),
        tags: readTextMap(headers, HEADER.createdTags),
      }
    case CONTENT_TYPE.tunnelCircuitCreated:
    case CONTENT_TYPE.circuitCreated:
      return { type: 'circuit-created', ...bodyOf(edge.CircuitCreated, frame) }
    case CONTENT_TYPE.terminatorV2Created:
      return terminatorAnswer({ ...bodyOf(edge.TerminatorCreated, frame), startTime: 0n })
    case CONTENT_TYPE.tunnelTerminatorCreated:
      return terminatorAnswer(bodyOf(edge.TunnelTerminatorCreated, frame))
    case CONTENT_TYPE.edgeTerminatorUpdated:
    case CONTENT_TYPE.tunnelTerminatorUpdated:
      return { type: 'terminator-updated' }
    case CONTENT_TYPE.validateTerminators: {
      const { postCreate, ...request } = bodyOf(fabric.ValidateTerminators, frame)
      return { type: 'validate-terminators', ...request, asksHosts: !postCreate }
    }
    case CONTENT_TYPE.certificates:
      return { type: 'certificates', ...bodyOf(edge.Certificates, frame) }
    case CONTENT_TYPE.renewCertificates:
      return { type: 'renew-certificates', ...bodyOf(edge.RenewCertificates, frame) }
    case CONTENT_TYPE.modelState: {
      const { endIndex: index, timelineId } = bodyOf(StateFacts, frame)
      const subscriptionId = readText(headers, HEADER.subscriptionId) ?? ''
      return { type: 'model-state', index, timelineId, subscriptionId, events: frame.body }
    }
    case CONTENT_TYPE.modelChanges: {
      const { index, previousIndex } = bodyOf(ChangeSetFacts, frame)
      const subscriptionId = readText(headers, HEADER.subscriptionId) ?? ''
      return { type: 'model-changes', index, previousIndex, subscriptionId, events: joined(frame) }
    }
    case CONTENT_TYPE.validateModel: {
      const events = bodyOf(ValidateModel, frame).state
      return { type: 'validate-model', index: StateFacts.decode(events.at(-1) ?? new Uint8Array(0)).endIndex, events }
    }
    case CONTENT_TYPE.inspect: {
      const values = bodyOf(fabric.InspectRequest, frame).requestedValues
      return { type: 'inspect', id: readText(headers, HEADER.reflected) ?? '', values }
    }
    case CONTENT_TYPE.traceChannels: {
      const id = readText(headers, HEADER.reflected) ?? ''
      return { type: 'trace-channels', id, ...bodyOf(fabric.TraceChannels, frame) }
    }
    default:
      return undefined
  }
}

function joined({ body }: Frame): Uint8Array {
  return body.length === 1 && body[0] !== undefined ? body[0] : Buffer.concat(body)
}

function bodyOf<T>(type: MessageType<T>, frame: Frame): T {
  return type.decode(joined(frame))
}

function textIn(frame: Frame): string {
  return new TextDecoder().decode(joined(frame))
}

function refusal(frame: Frame): ToRouter {
  const { headers } = frame
  const code = codeOf(readUint32(headers, HEADER.errorCode) ?? 0)
  const circuitId = readText(headers, HEADER.failedCircuitId)
  const answer = {
    type: 'refusal',
    code,
    message: textIn(frame),
    hint: hintOf(readUint32(headers, HEADER.retryHint) ?? 0),
  } as const
  return circuitId === undefined ? answer : { ...answer, circuitId }
}

function confirmed(frame: Frame): ToRouter {
  const { code } = bodyOf(edge.CodedError, frame)
  const problem = CONFIRMATIONS.find((known) => known === code)
  return { type: 'certificate-confirmed', problem: code === '' ? undefined : (problem ?? 'VERIFY_ERROR') }
}

function controllerAddresses(frame: Frame): ToRouter {
  const { index, isLeader: isComplete, controllers } = bodyOf(fabric.UpdateControllerAddresses, frame)
  return {
    type: 'controller-addresses',
    index,
    isComplete,
    controllers: controllers.map(({ id, endpoints }) => ({ id, addresses: endpoints.map(({ address }) => address) })),
  }
}

function apiSessionsAdded(frame: Frame): ToRouter {
  const { isFullState, apiSessions: sessions } = bodyOf(edge.ApiSessionsAdded, frame)
  if (!isFullState) return { type: 'api-sessions-added', sessions }
  const state: unknown = JSON.parse(readText(frame.headers, HEADER.syncState) ?? '{}')
  const { id, sequence, isLast } = Object.assign({ id: '', sequence: 0, isLast: true }, state)
  return {
    type: 'api-sessions-added',
    sessions,
    full: { syncId: String(id), sequence: Number(sequence), isLast: Boolean(isLast) },
  }
}

function terminatorAnswer(answer: ReturnType<typeof edge.TunnelTerminatorCreated.decode>): ToRouter {
  const { terminatorId, result, msg: message, errorCode, retryHint, startTime } = answer
  if (result === 'success') return { type: 'terminator-created', terminatorId, startTime }
  const hint = result === 'busy' ? 'too-busy' : hintOf(retryHint)
  return { type: 'terminator-refused', terminatorId, code: codeOf(errorCode), message, hint }
}

const CODES = new Map(Object.entries(REFUSAL_NUMBERS).map(([code, number]) => [number, code]))
const HINTS = new Map(Object.entries(HINT_NUMBERS).map(([hint, number]) => [number, hint]))

/** The name of a number; a number that nobody knows is an error of the controller. */
function codeOf(number: number): RefusalCode {
  const code = CODES.get(number)
  return isCode(code) ? code : 'internal'
}

function hintOf(number: number): RetryHint {
  const hint = HINTS.get(number)
  return isHint(hint) ? hint : 'default'
}

function isCode(code: string | undefined): code is RefusalCode {
  return code !== undefined && code in REFUSAL_NUMBERS
}

function isHint(hint: string | undefined): hint is RetryHint {
  return hint !== undefined && hint in HINT_NUMBERS
}
