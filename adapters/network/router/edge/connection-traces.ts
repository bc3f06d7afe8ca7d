import { EDGE_HEADER } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { uint32Header } from '../../channel/header-values.ts'
import {
  answered,
  answering,
  readControl,
  readTraceRoute,
  type TraceRoute,
  writeControl,
  writeTraceRoute,
} from '../../channel/trace-routes.ts'
import type { Endpoint } from './endpoint.ts'

/** Questions of one connection that are remembered; the answer to an older question comes in a form that the endpoint does not expect. */
const MOST_QUESTIONS = 16
/** The end of a circuit at a router, in the words of an answer to a trace. */
const EDGE_HOP = { hops: 0, hopType: 'xgress/edge', hopId: '' } as const

/**
 * Traces of one circuit at one of its ends. Endpoints ask and answer in the form of connections. Endpoints that keep windows also use the
 * form of routers, which is the only form between routers.
 */
export class ConnectionTraces {
  readonly #connection: { readonly id: number; readonly circuitId: string; readonly usesXgress: boolean }
  readonly #endpoint: Pick<Endpoint<unknown>, 'send'>
  readonly #forward: (frame: Frame) => void
  /** The numbers of the endpoint's questions in the form of connections, the oldest first. */
  readonly #questions = new Set<number>()

  constructor(
    connection: { readonly id: number; readonly circuitId: string; readonly usesXgress: boolean },
    endpoint: Pick<Endpoint<unknown>, 'send'>,
    forward: (frame: Frame) => void,
  ) {
    this.#connection = connection
    this.#endpoint = endpoint
    this.#forward = forward
  }

  /** The endpoint asks or answers in the form of connections. */
  sent(message: Frame): void {
    const { id, circuitId } = this.#connection
    const trace = readTraceRoute(message, circuitId)
    const question = message.sequence >>> 0
    if (trace.isAnswer) this.#pass(message, trace)
    else if (trace.hops > 1) {
      this.#remember(question)
      this.#pass(message, { ...trace, hops: trace.hops - 1, question })
    } else {
      const answer = answered({ ...trace, question }, EDGE_HOP)
      this.#endpoint.send(answering(writeTraceRoute(answer, id), question))
    }
  }

  /** The endpoint asks or answers in the form of routers. */
  sentControl(message: Frame): void {
    const trace = readControl(message)
    if (trace === undefined || !this.#connection.usesXgress) return
    this.#pass(message, trace.isAnswer ? trace : { ...trace, question: message.sequence >>> 0 })
  }

  /** Another hop of the circuit asks or answers. */
  take(frame: Frame): void {
    const trace = readControl(frame)
    if (trace === undefined) return
    const { id, usesXgress } = this.#connection
    const { isAnswer, hops, question } = trace
    if (isAnswer && (!usesXgress || this.#questions.delete(question ?? -1))) {
      this.#endpoint.send(answering(writeTraceRoute(trace, id), question))
    } else if (usesXgress) {
      const control = writeControl(trace)
      const headers = new Map(control.headers).set(EDGE_HEADER.connection, uint32Header(id))
      this.#endpoint.send(answering({ ...control, headers }, isAnswer ? question : undefined), 'data')
    } else if (hops <= 1) this.#pass(frame, answered(trace, EDGE_HOP))
    else this.#endpoint.send(writeTraceRoute({ ...trace, hops: hops - 1 }, id))
  }

  #remember(question: number): void {
    this.#questions.add(question)
    const [oldest] = this.#questions
    if (this.#questions.size > MOST_QUESTIONS && oldest !== undefined) this.#questions.delete(oldest)
  }

  #pass({ sequence }: Frame, trace: TraceRoute): void {
    this.#forward({ ...writeControl(trace), sequence })
  }
}
