import type { Message } from './conversation.ts'
import { bodyOf, EDGE_HEADER, EDGE_TYPE, edgeMessage } from './edge-messages.ts'
import type { Frame } from './frame.ts'
import { readText, readUint32, textBytes, uint32Header } from './header-values.ts'

/** The question for the hop of a circuit some steps further on, or its answer. */
export interface TraceRoute {
  readonly isAnswer: boolean
  readonly circuitId: string
  /** Steps that are left; the hop of the last step answers. */
  readonly hops: number
  /** The time of the asker, in its own form, and its number of the question: given back as they are. */
  readonly askedAt: Uint8Array | undefined
  readonly question: number | undefined
  /** Of an answer: the kind of program that answers, and its id. */
  readonly hopType?: string
  readonly hopId?: string
  /** Why the question could not go on. */
  readonly error?: string
}

/** First byte of the body of a control, behind which its circuit stands. */
const ASKED = 1
const ANSWERED = 2
const CONTROL_HEADER = { hops: 20, hopType: 21, hopId: 22, askedAt: 23, question: 24, error: 25 } as const
const { traceTimestamp, traceHops, traceHopType, traceHopId, traceQuestion, traceError } = EDGE_HEADER
const ROUTE_HEADER = {
  hops: traceHops,
  hopType: traceHopType,
  hopId: traceHopId,
  askedAt: traceTimestamp,
  question: traceQuestion,
  error: traceError,
} as const

/** Reads the trace in a control of a circuit; undefined for a control of another kind. */
export function readControl(frame: Frame): TraceRoute | undefined {
  const body = bodyOf(frame)
  if (frame.contentType !== EDGE_TYPE.circuitControl || body.length < 2) return undefined
  if (body[0] !== ASKED && body[0] !== ANSWERED) return undefined
  const circuitId = Buffer.from(body.subarray(1)).toString()
  return { isAnswer: body[0] === ANSWERED, circuitId, ...factsOf(frame, CONTROL_HEADER) }
}

/** Writes a trace as the control that carries it between routers, and to endpoints that keep windows. */
export function writeControl(trace: TraceRoute): Message {
  const body = Buffer.concat([Uint8Array.of(trace.isAnswer ? ANSWERED : ASKED), textBytes(trace.circuitId)])
  return { contentType: EDGE_TYPE.circuitControl, headers: headersOf(trace, CONTROL_HEADER), body: [body] }
}

/** Reads a trace from a message of an endpoint that leaves windows to its router. */
export function readTraceRoute(frame: Frame, circuitId: string): TraceRoute {
  return { isAnswer: frame.contentType === EDGE_TYPE.traceRouteAnswer, circuitId, ...factsOf(frame, ROUTE_HEADER) }
}

/** Writes a trace as the message for an endpoint that leaves windows to its router. */
export function writeTraceRoute(trace: TraceRoute, connection: number): Message {
  const contentType = trace.isAnswer ? EDGE_TYPE.traceRouteAnswer : EDGE_TYPE.traceRoute
  return edgeMessage(contentType, connection, headersOf(trace, ROUTE_HEADER))
}

/** A message that answers another message by its number. */
export function answering(message: Message, question: number | undefined): Message {
  if (question === undefined) return message
  const headers = new Map(message.headers).set(EDGE_HEADER.replyFor, uint32Header(question))
  return { ...message, headers }
}

/** The answer of a node that took a step. */
export function answered(trace: TraceRoute, hop: Pick<TraceRoute, 'hops' | 'hopType' | 'hopId' | 'error'>): TraceRoute {
  return { ...trace, isAnswer: true, ...hop }
}

/** The answer of an endpoint that is the end of the circuit, in the form in which it was asked; undefined for no question. */
export function answerOfEnd(message: Frame, connection: number, hopType: string): Message | undefined {
  const control = readControl(message)
  if (control !== undefined) {
    if (control.isAnswer) return undefined
    const { contentType, headers, body } = writeControl(answered(control, { hops: control.hops, hopType, hopId: '' }))
    const addressed = new Map(headers).set(EDGE_HEADER.connection, uint32Header(connection))
    return answering({ contentType, headers: addressed, body }, control.question)
  }
  if (message.contentType !== EDGE_TYPE.traceRoute) return undefined
  const asked = readTraceRoute(message, '')
  const hop = { hops: Math.max(asked.hops - 1, 0), hopType, hopId: '' }
  return writeTraceRoute(answered(asked, hop), connection)
}

type Keys = Readonly<Record<keyof typeof CONTROL_HEADER, number>>

function factsOf({ headers }: Frame, keys: Keys): Omit<TraceRoute, 'isAnswer' | 'circuitId'> {
  const [hopType, hopId, error] = [keys.hopType, keys.hopId, keys.error].map((key) => readText(headers, key))
  return {
    hops: readUint32(headers, keys.hops) ?? 0,
    askedAt: headers.get(keys.askedAt),
    question: readUint32(headers, keys.question),
    ...(hopType !== undefined && { hopType }),
    ...(hopId !== undefined && { hopId }),
    ...(error !== undefined && { error }),
  }
}

function headersOf({ hops, askedAt, question, hopType, hopId, error }: TraceRoute, keys: Keys) {
  const headers = new Map([[keys.hops, uint32Header(hops)]])
  if (askedAt !== undefined) headers.set(keys.askedAt, askedAt)
  if (question !== undefined) headers.set(keys.question, uint32Header(question))
  if (hopType !== undefined) headers.set(keys.hopType, textBytes(hopType))
  if (hopId !== undefined) headers.set(keys.hopId, textBytes(hopId))
  if (error !== undefined) headers.set(keys.error, textBytes(error))
  return headers
}
