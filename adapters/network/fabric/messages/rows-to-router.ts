import type { RefusalCode, RetryHint, ToRouter } from '../../../../src/control-channel.ts'
import { EDGE_ERROR, HINT_NUMBERS } from '../../../../src/data-plane.ts'
import type { Frame } from '../../channel/frame.ts'
import { readTextMap, readUint32, textMapHeader, uint32Header } from '../../channel/header-values.ts'
import type { MessageOf } from '../../channel/protobuf/index.ts'
import { CONTENT_TYPE, HEADER } from './content-types.ts'
import * as edge from './edge-definitions.ts'
import * as fabric from './fabric-definitions.ts'
import { postureKnown } from './handed-on-posture.ts'
import {
  type Body,
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
import { ChangeSetFacts, StateFacts, ValidateModel } from './model-definitions.ts'

type Members<Type extends ToRouter['type']> = MembersOf<ToRouter, Type>

const NANOSECONDS = 1_000_000
const CONFIRMATIONS = [
  'MISSING_CLIENT_PEM',
  'INVALID_ROUTER_STATE',
  'INVALID_CLIENT_PEM',
  'VERIFY_ERROR',
  'ROUTER_NOT_FOUND',
] as const

// Routers refuse for these two themselves, and tell endpoints alone.
const { 'invalid-api-session-type': _type, 'posture-check-failed': _posture, ...REFUSAL_NUMBERS } = EDGE_ERROR

/** The name of a number on the wire; `other` for an unknown number. */
function nameOf<Name extends string>(numbers: Readonly<Record<Name, number>>, number: number, other: Name): Name {
  const found = Object.entries<number>(numbers).find(([, known]) => known === number)
  // The names are the members of the record.
  return found === undefined ? other : (found[0] as Name)
}

function codeOf(number: number): RefusalCode {
  return nameOf<RefusalCode>(REFUSAL_NUMBERS, number, 'internal')
}

function hintOf(number: number): RetryHint {
  return nameOf(HINT_NUMBERS, number, 'default')
}

const HINT = {
  key: HEADER.retryHint,
  write: (hint: RetryHint) => uint32Header(HINT_NUMBERS[hint]),
  read: (headers: Frame['headers']) => hintOf(readUint32(headers, HEADER.retryHint) ?? 0),
} as const

const RESULT: MessageRow<Members<'result'>> = row(CONTENT_TYPE.result, textBody('message'), {
  success: bool(HEADER.success),
})
/** A result that answers no update of a terminator. */
const PLAIN_RESULT = mapped(
  RESULT,
  (result: Members<'result'>) => result,
  (result, { answered }) => (answered === CONTENT_TYPE.updateTerminator ? undefined : result),
)
/** A router whose inspection is refused reads that as the answer to it. */
const INSPECTION_REFUSED = mapped(
  row(CONTENT_TYPE.inspected, fabric.InspectResponse),
  ({ success, message }: Members<'result'>) => ({ success, errors: [message], values: [] }),
  () => undefined,
)

const REFUSAL: MessageRow<Members<'refusal'>> = mapped(
  row(CONTENT_TYPE.error, textBody('message'), {
    code: {
      key: HEADER.errorCode,
      write: (code: RefusalCode) => uint32Header(REFUSAL_NUMBERS[code]),
      read: (headers: Frame['headers']) => codeOf(readUint32(headers, HEADER.errorCode) ?? 0),
    },
    hint: HINT,
    circuitId: optionalText(HEADER.failedCircuitId),
  }),
  ({ circuitId, ...refusal }) => ({ ...refusal, circuitId }),
  ({ circuitId, ...refusal }, { answered }) => {
    if (answered === CONTENT_TYPE.confirmCertificate) return undefined
    return circuitId === undefined ? refusal : { ...refusal, circuitId }
  },
)
/** The oldest form of a request about a terminator is always answered by a result. Deployed controllers send no hint with it. */
const REFUSED_BY_RESULT: MessageRow<Members<'refusal'>> = mapped(
  row(CONTENT_TYPE.result, textBody('message'), { success: bool(HEADER.success), hint: HINT }),
  ({ message, hint }) => ({ success: false, message, hint }),
  ({ success, message, hint }, { answered }) =>
    answered !== CONTENT_TYPE.updateTerminator || success ? undefined : { code: 'internal', message, hint },
)
const UPDATED_BY_RESULT: MessageRow<object> = mapped(
  RESULT,
  () => ({ success: true, message: '' }),
  ({ success }, { answered }) => (answered === CONTENT_TYPE.updateTerminator && success ? {} : undefined),
)
const EDGE_TERMINATOR_UPDATED = bare(CONTENT_TYPE.edgeTerminatorUpdated)
const TUNNEL_TERMINATOR_UPDATED = bare(CONTENT_TYPE.tunnelTerminatorUpdated)

const CIRCUIT_HEADERS = {
  peerData: bytesMap(HEADER.createdPeerData),
  circuitId: text(HEADER.createdCircuitId),
  address: text(HEADER.createdAddress),
  tags: {
    key: HEADER.createdTags,
    write: textMapHeader,
    read: (headers: Frame['headers']) => readTextMap(headers, HEADER.createdTags),
  },
} as const
const CIRCUIT_V1 = row(CONTENT_TYPE.circuitCreated, edge.CircuitCreated)
const CIRCUIT_OF_TUNNEL = row(CONTENT_TYPE.tunnelCircuitCreated, edge.CircuitCreated)
const CIRCUIT_V2 = row(CONTENT_TYPE.circuitV2Created, NO_BODY, CIRCUIT_HEADERS)
const CIRCUIT_V3 = row(CONTENT_TYPE.circuitV3Created, NO_BODY, CIRCUIT_HEADERS)

/** The answer to a request for a circuit, by the content type of the request. */
function circuitForm(asked: number | undefined): MessageRow<Members<'circuit-created'>> {
  if (asked === CONTENT_TYPE.createTunnelCircuit) return CIRCUIT_OF_TUNNEL
  if (asked === CONTENT_TYPE.createCircuit) return CIRCUIT_V1
  return asked === CONTENT_TYPE.createCircuitV3 ? CIRCUIT_V3 : CIRCUIT_V2
}

type TerminatorAnswer = MessageOf<typeof edge.TunnelTerminatorCreated>

const NO_ANSWER = edge.TunnelTerminatorCreated.blank()
const OF_TUNNEL: MessageRow<TerminatorAnswer> = row(CONTENT_TYPE.tunnelTerminatorCreated, edge.TunnelTerminatorCreated)
const OF_EDGE: MessageRow<TerminatorAnswer> = mapped(
  row(CONTENT_TYPE.terminatorV2Created, edge.TerminatorCreated),
  ({ startTime: _, ...answer }) => answer,
  (answer) => ({ ...answer, startTime: 0n }),
)
const TERMINATOR_ANSWER = oneOf([OF_TUNNEL, OF_EDGE], (_, { answered }) =>
  answered === CONTENT_TYPE.createTunnelTerminator ? OF_TUNNEL : OF_EDGE,
)

/** The events of the model are pieces of their own, which all routers share. */
const MODEL_STATE: Body<Omit<Members<'model-state'>, 'subscriptionId'>> = {
  encode: ({ index, timelineId, events }) => [...events, StateFacts.encode({ endIndex: index, timelineId })],
  decode(bytes) {
    const { endIndex: index, timelineId } = StateFacts.decode(bytes)
    return { index, timelineId, events: [bytes] }
  },
}
const MODEL_CHANGES: Body<Omit<Members<'model-changes'>, 'subscriptionId'>> = {
  encode: ({ events, ...facts }) => [ChangeSetFacts.encode(facts), events],
  decode: (bytes) => ({ ...ChangeSetFacts.decode(bytes), events: bytes }),
}

const CODEC = new MessageCodec<ToRouter>({
  result: oneOf([PLAIN_RESULT], (_, { answered }) =>
    answered === CONTENT_TYPE.inspect ? INSPECTION_REFUSED : PLAIN_RESULT,
  ),
  refusal: oneOf([REFUSAL, REFUSED_BY_RESULT], (_, { answered }) =>
    answered === CONTENT_TYPE.updateTerminator ? REFUSED_BY_RESULT : REFUSAL,
  ),
  route: mapped(
    row(CONTENT_TYPE.route, fabric.Route),
    ({ timeoutMs, egress, ...route }) => ({ ...route, egress, timeout: timeoutMs * NANOSECONDS }),
    ({ timeout, egress, ...route }) => ({ timeoutMs: timeout / NANOSECONDS, ...route, ...(egress && { egress }) }),
  ),
  unroute: row(CONTENT_TYPE.unroute, fabric.Unroute),
  'link-fault': mapped(
    row(CONTENT_TYPE.fault, fabric.Fault),
    ({ linkId, iteration }) => ({ subject: 'link' as const, id: linkId, iteration, isUnstarted: undefined }),
    ({ subject, id, iteration }) => (subject === 'link' ? { linkId: id, iteration } : undefined),
  ),
  peers: row(CONTENT_TYPE.peerStateChange, fabric.PeerStateChanges),
  'controller-addresses': mapped(
    row(CONTENT_TYPE.updateControllerAddresses, fabric.UpdateControllerAddresses),
    ({ index, isComplete, controllers }) => ({
      index,
      isLeader: isComplete,
      // Old routers read the plain list, new ones the other.
      addresses: controllers.flatMap(({ addresses }) => addresses),
      controllers: controllers.map(({ id, addresses }) => ({
        id,
        endpoints: addresses.map((address) => ({ address, groups: ['default'] })),
      })),
    }),
    ({ index, isLeader, controllers }) => ({
      index,
      isComplete: isLeader,
      controllers: controllers.map(({ id, endpoints }) => ({ id, addresses: endpoints.map(({ address }) => address) })),
    }),
  ),
  'edge-hello': mapped(
    row(CONTENT_TYPE.serverHello, edge.ServerHello, { supportsModel: bool(HEADER.supportsModel) }),
    ({ version }) => {
      const data = [
        ['instant', 'true'],
        ['routerModel', 'true'],
      ] as const
      return { version, data: new Map(data), supportsModel: true }
    },
    ({ version }) => ({ version }),
  ),
  'api-sessions-added': mapped(
    row(CONTENT_TYPE.apiSessionsAdded, edge.ApiSessionsAdded, {
      strategy: optionalText(HEADER.syncStrategy),
      state: optionalText(HEADER.syncState),
    }),
    ({ sessions: apiSessions, full }) => {
      if (full === undefined) return { apiSessions, isFullState: false, strategy: undefined, state: undefined }
      const { syncId: id, isLast, sequence } = full
      return { apiSessions, isFullState: true, strategy: 'instant', state: JSON.stringify({ id, isLast, sequence }) }
    },
    ({ apiSessions: sessions, isFullState, state = '{}' }) => {
      if (!isFullState) return { sessions }
      const known: unknown = JSON.parse(state)
      const { id, sequence, isLast } = Object.assign({ id: '', sequence: 0, isLast: true }, known)
      return { sessions, full: { syncId: String(id), sequence: Number(sequence), isLast: Boolean(isLast) } }
    },
  ),
  'api-sessions-removed': row(CONTENT_TYPE.apiSessionsRemoved, edge.TokensAndIds),
  'api-sessions-updated': mapped(
    row(CONTENT_TYPE.apiSessionsUpdated, edge.ApiSessions),
    ({ sessions }) => ({ apiSessions: sessions }),
    ({ apiSessions }) => ({ sessions: apiSessions }),
  ),
  'sessions-removed': mapped(
    row(CONTENT_TYPE.sessionsRemoved, edge.TokensAndIds),
    // Routers go through the tokens, and take the ids for them where there are as many.
    ({ ids }) => ({ tokens: ids, ids }),
    ({ ids }) => ({ ids }),
  ),
  'posture-known': postureKnown,
  'circuit-created': oneOf([CIRCUIT_V1, CIRCUIT_OF_TUNNEL, CIRCUIT_V2, CIRCUIT_V3], (_, { answered }) =>
    circuitForm(answered),
  ),
  'terminator-created': mapped(
    TERMINATOR_ANSWER,
    (created) => ({ ...NO_ANSWER, ...created, result: 'success' as const }),
    ({ result, terminatorId, startTime }) => (result === 'success' ? { terminatorId, startTime } : undefined),
  ),
  'terminator-refused': mapped(
    TERMINATOR_ANSWER,
    ({ terminatorId, code, message: msg, hint }) => {
      const result = hint === 'too-busy' ? 'busy' : 'other'
      const numbers = { errorCode: REFUSAL_NUMBERS[code], retryHint: HINT_NUMBERS[hint] }
      return { ...NO_ANSWER, terminatorId, result, msg, ...numbers } as const
    },
    ({ terminatorId, result, msg: message, errorCode, retryHint }) => {
      if (result === 'success') return undefined
      const hint = result === 'busy' ? 'too-busy' : hintOf(retryHint)
      return { terminatorId, code: codeOf(errorCode), message, hint }
    },
  ),
  'terminator-updated': oneOf(
    [EDGE_TERMINATOR_UPDATED, TUNNEL_TERMINATOR_UPDATED, UPDATED_BY_RESULT],
    (_, { answered }) => {
      if (answered === CONTENT_TYPE.updateTerminator) return UPDATED_BY_RESULT
      return answered === CONTENT_TYPE.updateTunnelTerminator ? TUNNEL_TERMINATOR_UPDATED : EDGE_TERMINATOR_UPDATED
    },
  ),
  'validate-terminators': mapped(
    row(CONTENT_TYPE.validateTerminators, fabric.ValidateTerminators),
    ({ terminators, fixInvalid, asksHosts }) => ({
      terminators: terminators.map((terminator) => ({ ...terminator, marker: 0 })),
      fixInvalid,
      postCreate: !asksHosts,
    }),
    ({ terminators, fixInvalid, postCreate }) => ({ terminators, fixInvalid, asksHosts: !postCreate }),
  ),
  certificates: row(CONTENT_TYPE.certificates, edge.Certificates),
  'renew-certificates': row(CONTENT_TYPE.renewCertificates, edge.RenewCertificates),
  'certificate-confirmed': mapped(
    row(CONTENT_TYPE.error, edge.CodedError),
    ({ problem = '' }) => ({ code: problem, message: problem }),
    ({ code }) => {
      const problem = CONFIRMATIONS.find((known) => known === code)
      return { problem: code === '' ? undefined : (problem ?? 'VERIFY_ERROR') }
    },
  ),
  'model-state': row(CONTENT_TYPE.modelState, MODEL_STATE, { subscriptionId: textIfAny(HEADER.subscriptionId) }),
  'model-changes': row(CONTENT_TYPE.modelChanges, MODEL_CHANGES, { subscriptionId: textIfAny(HEADER.subscriptionId) }),
  'validate-model': row(CONTENT_TYPE.validateModel, {
    encode({ index: endIndex, events }) {
      const pieces = [...events, StateFacts.encode({ endIndex })]
      return pieces.map((piece) => ValidateModel.encode({ state: [piece] }))
    },
    decode(bytes): Members<'validate-model'> {
      const { state: events } = ValidateModel.decode(bytes)
      return { index: StateFacts.decode(events.at(-1) ?? new Uint8Array(0)).endIndex, events }
    },
  }),
  inspect: row(CONTENT_TYPE.inspect, fabric.InspectRequest, { id: text(HEADER.reflected) }),
  'trace-channels': row(CONTENT_TYPE.traceChannels, fabric.TraceChannels, { id: text(HEADER.reflected) }),
})

/** Writes a message; the form of some answers depends on the content type of their request. */
export function writeMessage(message: ToRouter, answered?: number): WireMessage {
  return CODEC.write(message, { answered })
}

/**
 * Reads a message of a controller; undefined for a kind that routers do not take. `answered` is the content type of the request that it
 * answers, where it answers one. Throws for a malformed message.
 */
export function readToRouter(frame: Frame, answered?: number): ToRouter | undefined {
  return CODEC.read(frame, { answered })
}
