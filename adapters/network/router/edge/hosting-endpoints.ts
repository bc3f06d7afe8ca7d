import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromRouter, Route, ToRouter } from '../../../../src/control-channel.ts'
import { EDGE_ERROR, type EdgeRefusal, pauseAfter } from '../../../../src/data-plane.ts'
import type { Timer } from '../../channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, readUint32 } from '../../channel/header-values.ts'
import type { EgressOutcome } from '../forwarder.ts'
import type { ConnectedController } from '../state/controllers.ts'
import { type BoundService, listenerKey, readBind, readCost, readPrecedence } from './bound-service.ts'
import { dialHost } from './dial-host.ts'
import { sessionObjection } from './edge-admission.ts'
import type { EdgeCircuits } from './edge-circuits.ts'
import type { EdgePosture } from './edge-posture.ts'
import { closedMessage } from './endpoint.ts'

type Host = BoundService['host']

/** How often a terminator is offered to a controller that is busy, and the milliseconds between. */
const TRIES = 3
const BUSY_MS = 1000
/** Milliseconds that a controller may take to answer about a terminator. */
const ANSWER_MS = 30_000
/** Milliseconds by which the model of this router may be behind its controller. */
const LATE_MS = 5000
const ID_LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID_LENGTH = 22

/** The parts of the router that hosting needs. */
interface HostingParts {
  readonly timer: Timer
  readonly circuits: EdgeCircuits
  readonly posture: Pick<EdgePosture, 'refusal' | 'standing' | 'explained' | 'isJudge' | 'settled' | 'watch'>
  /** Epoch ms. */
  readonly now: () => number
  controller(): ConnectedController | undefined
}

/** The services that endpoints host at this router, and how they are dialed. */
export class HostedServices {
  readonly #parts: HostingParts
  readonly #byId = new Map<string, BoundService>()
  /** By identity and listener: an endpoint that binds again goes on with the terminator that it had. */
  readonly #byListener = new Map<string, BoundService>()
  readonly #bySession = new Map<string, Set<BoundService>>()

  constructor(parts: HostingParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#byId.size
  }

  has(terminatorId: string): boolean {
    return this.#byId.has(terminatorId)
  }

  /**
   * An endpoint hosts a service. It is answered at once. Some time later it hears that the controller has the terminator, or that the
   * service is not hosted. Some endpoints only know their listener after the answer, so the two never come together.
   */
  async bind(host: Host, message: Frame): Promise<void> {
    const connectionId = readUint32(message.headers, EDGE_HEADER.connection)
    if (connectionId === undefined) return
    const before = this.#byListener.get(listenerKey(host, message))
    if (before?.host === host && before.connectionId === connectionId) {
      this.#answer(before, message)
      // Else it hears by its first bind.
      if (before.isEstablished) this.#succeeded(before, message)
      return
    }
    if (before?.host === host && connectionId < before.connectionId) {
      return host.reply(message, closedMessage(connectionId, { text: 'a newer bind of the listener is there' }))
    }
    const terminatorId = before?.terminatorId ?? newId()
    const bound = readBind(host, message, { connectionId, terminatorId, now: this.#parts.now() })
    const objection =
      sessionObjection(host.client, message) ?? this.#parts.posture.refusal(host.client, bound.serviceId, 'Bind')
    if (objection !== undefined) return host.reply(message, closedMessage(connectionId, objection))
    const problem = host.bind(connectionId, bound)
    if (problem !== undefined) {
      const text = problem === 'taken' ? `connection id ${connectionId} is in use` : 'too many binds'
      return host.reply(message, closedMessage(connectionId, { text, hint: 'not-retriable' }))
    }
    if (before !== undefined) this.#replace(before)
    this.#keep(bound)
    this.#answer(bound, message)
    const refusal = await this.#register(bound)
    if (this.#byId.get(terminatorId) !== bound) {
      // The endpoint left, or bound again, while the controller was asked.
      if (!this.#byId.has(terminatorId)) this.#withdraw([terminatorId])
      return
    }
    if (refusal === undefined) return this.#succeeded(bound, message)
    this.#forget(bound)
    if (host.release(connectionId, bound)) host.send(closedMessage(connectionId, refusal))
  }

  /** An endpoint changes cost or precedence of a hosted service. It gets no answer: the controller is told until it has them. */
  update(bound: BoundService, { headers }: Frame): void {
    const cost = headers.has(EDGE_HEADER.cost) ? readCost(headers) : undefined
    const precedence = headers.has(EDGE_HEADER.precedence) ? readPrecedence(headers) : undefined
    bound.cost = cost ?? bound.cost
    bound.precedence = precedence ?? bound.precedence
    if (bound.taken === undefined) return
    // An operator may have changed them since.
    bound.taken = {
      cost: cost === undefined ? bound.taken.cost : undefined,
      precedence: precedence === undefined ? bound.taken.precedence : undefined,
    }
    void this.#tellChanges(bound)
  }

  /** The hosting of these bindings is over. */
  remove(gone: readonly BoundService[]): void {
    const own = gone.filter((bound) => this.#byId.get(bound.terminatorId) === bound)
    for (const bound of own) this.#forget(bound)
    this.#withdraw(own.map(({ terminatorId }) => terminatorId))
  }

  /**
   * Ends hosting whose right is lost, as far as this router knows. A controller that judges posture itself may have granted it by facts
   * that reach this router a moment later.
   */
  judge(bound: BoundService): void {
    const { posture, now } = this.#parts
    const refusal = posture.standing(bound.host.client, bound.serviceId, 'Bind')
    if (refusal === undefined) bound.isGranted = true
    else if (bound.isGranted || posture.isJudge || now() - bound.boundAt >= LATE_MS) this.close(bound, refusal)
  }

  /** Ends hosting, and the endpoint hears why. */
  close(bound: BoundService, refusal: EdgeRefusal): void {
    this.remove([bound])
    if (bound.host.release(bound.connectionId, bound)) bound.host.send(closedMessage(bound.connectionId, refusal))
  }

  /** The services that are hosted by a service session. */
  ofSession(sessionId: string): readonly BoundService[] {
    return [...(this.#bySession.get(sessionId) ?? [])]
  }

  all(): Iterable<BoundService> {
    return this.#byId.values()
  }

  /** Tells a controller that is connected anew about everything that is hosted. */
  async registerAll(): Promise<void> {
    for (const bound of [...this.#byId.values()]) await this.#registerAgain(bound)
  }

  /** A controller that is away again, or has no storage for a while, ends no hosting: it has the terminator from before. */
  async #registerAgain(bound: BoundService, failures = 0): Promise<void> {
    const refusal = await this.#register(bound)
    if (refusal === undefined) bound.isOwed = false
    if (refusal === undefined || this.#byId.get(bound.terminatorId) !== bound) return
    if (refusal.hint !== 'too-busy') return this.close(bound, refusal)
    if (bound.isOwed && failures === 0) return
    // The next controller that connects gets it as well.
    bound.isOwed = this.#parts.controller() !== undefined
    if (!bound.isOwed) return
    this.#parts.timer(pauseAfter(failures + 1, runtime.fraction()), () => {
      if (this.#byId.get(bound.terminatorId) === bound) void this.#registerAgain(bound, failures + 1)
    })
  }

  /** Dials the host of a terminator for a circuit. */
  async dial(route: Route, controllerId: string): Promise<EgressOutcome> {
    const { egress } = route
    const bound = this.#byId.get(egress?.destination ?? '')
    if (egress === undefined || bound === undefined || bound.host.isClosed) {
      return { success: false, cause: 'invalid-terminator', message: 'the terminator is not at this router' }
    }
    return dialHost(bound, { ...route, egress }, { circuits: this.#parts.circuits, controllerId })
  }

  async #register(bound: BoundService): Promise<EdgeRefusal | undefined> {
    const { host, terminatorId, serviceId, peerData, instanceId, instanceSecret } = bound
    const token = new TextDecoder().decode(bound.token)
    await this.#parts.posture.settled(host.client)
    const refusal = this.#parts.posture.refusal(host.client, bound.serviceId, 'Bind')
    if (refusal !== undefined) return refusal
    for (let attempt = 1; ; attempt += 1) {
      const { cost, precedence } = bound
      const answer = await this.#ask({
        type: 'create-terminator',
        address: terminatorId,
        sessionToken: token,
        apiSessionToken: host.client.token,
        peerData,
        cost,
        precedence,
        instanceId,
        instanceSecret,
      })
      if (answer?.type === 'terminator-created') {
        bound.taken = { cost, precedence }
        void this.#tellChanges(bound)
        bound.isGranted ||= this.#parts.posture.standing(host.client, serviceId, 'Bind') === undefined
        // Its posture may fail later by a report to another router.
        if (host.client.isBearer) void this.#parts.posture.watch(host)
        return undefined
      }
      if (answer?.type === 'terminator-refused' && answer.hint !== 'too-busy') {
        const refusal = { text: answer.message, code: EDGE_ERROR[answer.code], hint: answer.hint }
        const explained = await this.#parts.posture.explained(host, { serviceId, type: 'Bind' }, refusal)
        if (explained !== undefined || attempt === TRIES) return explained ?? refusal
        continue
      }
      if (attempt === TRIES)
        return { text: 'no controller took the terminator', code: EDGE_ERROR.internal, hint: 'too-busy' }
      await new Promise<void>((resolve) => this.#parts.timer(BUSY_MS, resolve))
    }
  }

  /** Tells the controller of values that it has not taken, one change after the other, with pauses while it takes none. */
  async #tellChanges(bound: BoundService): Promise<void> {
    if (bound.isBeingTold) return
    bound.isBeingTold = true
    for (let failures = 0; this.#byId.get(bound.terminatorId) === bound; ) {
      const { cost, precedence, taken } = bound
      const change = {
        cost: cost === taken?.cost ? undefined : cost,
        precedence: precedence === taken?.precedence ? undefined : precedence,
      }
      if (change.cost === undefined && change.precedence === undefined) break
      const answer = await this.#ask({ type: 'update-terminator', terminatorId: bound.terminatorId, ...change })
      const isRefused = answer?.type === 'refusal' && answer.hint !== 'too-busy'
      if (answer?.type === 'terminator-updated' || isRefused) {
        failures = 0
        // A change that came meanwhile is told next.
        if (bound.taken === taken) bound.taken = { cost, precedence }
      } else {
        failures += 1
        await new Promise<void>((resolve) => this.#parts.timer(pauseAfter(failures, runtime.fraction()), resolve))
      }
    }
    bound.isBeingTold = false
  }

  /** Undefined where no controller answers in time: the storage of one in this process may hang. */
  async #ask(message: FromRouter): Promise<ToRouter | undefined> {
    const asked = this.#parts.controller()?.ask(message)
    let cancel: (() => void) | undefined
    const late = new Promise<undefined>((resolve) => {
      cancel = this.#parts.timer(ANSWER_MS, () => resolve(undefined))
    })
    return Promise.race([asked, late])
      .catch(() => undefined)
      .finally(cancel)
  }

  #tell(message: FromRouter): void {
    void this.#ask(message)
  }

  #answer({ host, connectionId, assignsIds }: BoundService, message: Frame): void {
    const headers = [[EDGE_HEADER.assignedConnection, assignsIds ? TRUE : undefined] as const]
    host.reply(message, edgeMessage(EDGE_TYPE.stateConnected, connectionId, headers))
  }

  /** The controller has the terminator: an endpoint that asked for it hears so. */
  #succeeded(bound: BoundService, message: Frame): void {
    const { host, connectionId } = bound
    bound.isEstablished = true
    const isAsked = readBool(message.headers, EDGE_HEADER.supportsBindSuccess)
    if (isAsked) host.send(edgeMessage(EDGE_TYPE.bindSuccess, connectionId))
  }

  #keep(bound: BoundService): void {
    this.#byId.set(bound.terminatorId, bound)
    this.#byListener.set(bound.listener, bound)
    this.#bySession.set(bound.sessionId, (this.#bySession.get(bound.sessionId) ?? new Set()).add(bound))
  }

  #forget(bound: BoundService): void {
    this.#byId.delete(bound.terminatorId)
    if (this.#byListener.get(bound.listener) === bound) this.#byListener.delete(bound.listener)
    const ofSession = this.#bySession.get(bound.sessionId)
    if (ofSession?.delete(bound) && ofSession.size === 0) this.#bySession.delete(bound.sessionId)
  }

  /** Another bind goes on with the terminator. */
  #replace(before: BoundService): void {
    this.#forget(before)
    const { host, connectionId } = before
    const refusal = { text: 'newer terminator found for listener id', code: EDGE_ERROR.internal }
    if (host.release(connectionId, before)) host.send(closedMessage(connectionId, refusal))
  }

  #withdraw(terminatorIds: readonly string[]): void {
    if (terminatorIds.length > 0) this.#tell({ type: 'remove-terminators', terminatorIds })
  }
}

function newId(): string {
  return Array.from(runtime.bytes(ID_LENGTH), (byte) => ID_LETTERS[byte % ID_LETTERS.length]).join('')
}
