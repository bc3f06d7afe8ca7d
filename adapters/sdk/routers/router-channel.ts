import type { Channel } from '../../channel/channel.ts'
import { Conversation, NoAnswer, type Timer } from '../../channel/conversation.ts'
import { bodyOf, EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE, textIn } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, readText, readUint32, textHeader, uint32Header } from '../../channel/header-values.ts'
import { answerOfEnd } from '../../channel/trace-routes.ts'
import { ConnectionFailure } from '../connection-failure.ts'
import { loadEndToEnd } from '../end-to-end.ts'
import { type Caller, type Line, type Secrets, ServiceConnection } from '../service-connection.ts'
import { RefusedByRouter } from './refused-by-router.ts'
import { type LineClock, RouterLines } from './router-lines.ts'
import type { RouterBind, RouterBinding, RouterDial } from './router-requests.ts'
import type { WindowedFacts, WindowedLine } from './windowed-line.ts'

/** Milliseconds between two questions whether the router is there. */
const PROBE_MS = 30_000
/** Questions without any sign of the router after which it counts as gone. */
const MOST_UNANSWERED = 3
/** Milliseconds that a router may take for its greeting. */
const HELLO_MS = 15_000
/** Milliseconds after which a service counts as hosted although its router has not said so yet. */
const ANNOUNCED_MS = 5000
/** Milliseconds within which a host answers who dials; routers wait for five seconds. */
const JUDGE_MS = 4500
/** The end of a circuit at a program, in the words of an answer to a question for the way. */
const HOP_TYPE = 'sdk/portcullis'
const PRECEDENCE = { default: 0, required: 1, failed: 2 } as const

/** The surroundings of a channel to a router. */
export interface RouterChannelParts extends LineClock {
  readonly onClose: () => void
}

/**
 * The channel between an identity and one router, with every connection that goes through it and every service that is hosted
 * there. It is over when its socket is, and everything on it then.
 */
export class RouterChannel {
  readonly #channel: Channel
  readonly #talk: Conversation
  readonly #timer: Timer
  readonly #connections = new Map<number, ServiceConnection>()
  readonly #lines: RouterLines
  readonly #bindings = new Map<number, RouterBind>()
  /** Services whose router said that it would tell when callers can reach them. */
  readonly #unannounced = new Map<number, () => void>()
  #lastId = 0
  #unanswered = 0
  #isOpen = true
  #routerName = ''
  #announcesBindings = false
  readonly #onClose: () => void

  private constructor(channel: Channel, { timer, now, onClose }: RouterChannelParts) {
    this.#channel = channel
    this.#timer = timer
    this.#onClose = onClose
    this.#talk = new Conversation(
      channel,
      {
        onMessage: (message) => this.#take(message),
        onDrain: () => this.#lines.drained(),
        onClose: () => this.#closed(),
      },
      timer,
    )
    this.#lines = new RouterLines(channel, this.#talk, { timer, now })
  }

  /** Greets a router. Rejects with a {@link ConnectionFailure} when it does not let the identity in. */
  static async open(
    channel: Channel,
    hello: { readonly apiSessionToken: string; readonly identityId: string },
    parts: RouterChannelParts,
  ): Promise<RouterChannel> {
    const router = new RouterChannel(channel, parts)
    const headers = new Map([[EDGE_HEADER.apiSessionToken, textHeader(hello.apiSessionToken)]])
    const body = [textHeader(hello.identityId)]
    try {
      const answer = await router.#talk.ask({ contentType: EDGE_TYPE.hello, headers, body }, HELLO_MS)
      if (readBool(answer.headers, EDGE_HEADER.isAccepted) !== true) {
        const why = textIn(answer)
        throw new ConnectionFailure('ROUTER_UNREACHABLE', `the router lets this identity not in: ${why}`)
      }
      router.#routerName = readText(answer.headers, EDGE_HEADER.routerName) ?? ''
      router.#announcesBindings = readBool(answer.headers, EDGE_HEADER.supportsBindSuccess) === true
      router.#probeLater()
      return router
    } catch (error) {
      channel.destroy()
      if (!(error instanceof NoAnswer)) throw error
      const why = error.why === 'closed' ? 'closed the connection: it does not know the session' : 'does not answer'
      throw new ConnectionFailure('ROUTER_UNREACHABLE', `the router ${why}`, { cause: error })
    }
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether somebody does not read, for whom everything on this channel has to wait. */
  get isHeld(): boolean {
    return this.#lines.isHeld
  }

  /** Whether nothing goes through it. */
  get isIdle(): boolean {
    return this.#connections.size === 0 && this.#bindings.size === 0 && this.#lines.windowed === 0
  }

  /** The id of the router, as it calls itself. */
  get routerName(): string {
    return this.#routerName
  }

  close(): void {
    this.#channel.close()
  }

  /** Dials a service. Rejects with a {@link RefusedByRouter} or another {@link ConnectionFailure}. */
  async dial(dial: RouterDial): Promise<ServiceConnection> {
    const cipher = dial.isEncrypted ? await loadEndToEnd() : undefined
    const keys = cipher?.createKeyPair()
    const id = this.#nextId()
    const connection = new ServiceConnection(this.#lineOf(id), dial.service)
    this.#connections.set(id, connection)
    // Nobody was given it yet, and an error that nobody listens to ends the process.
    const ignore = () => undefined
    connection.on('error', ignore)
    try {
      const headers = [
        [EDGE_HEADER.publicKey, keys?.publicKey],
        [EDGE_HEADER.callerName, textHeader(dial.callerName)],
        [EDGE_HEADER.applicationData, dial.applicationData],
        [EDGE_HEADER.instance, dial.instance === undefined ? undefined : textHeader(dial.instance)],
        [EDGE_HEADER.usesXgress, TRUE],
      ] as const
      const request = edgeMessage(EDGE_TYPE.connect, id, headers, textHeader(dial.sessionToken))
      const answer = await this.#ask(request, dial.timeoutMs, dial.service)
      if (answer.contentType !== EDGE_TYPE.stateConnected) throw new RefusedByRouter(answer, dial.service)
      const secrets: Secrets | undefined = cipher &&
        keys && { cipher, keys: cipher.agree('client', keys, answer.headers.get(EDGE_HEADER.publicKey)) }
      const circuitId = readText(answer.headers, EDGE_HEADER.circuit) ?? ''
      const applicationData = dial.applicationData ?? new Uint8Array()
      const facts = { service: dial.service, caller: undefined, applicationData, circuitId }
      const line = this.#windowsOf(answer, connection, { connectionId: id, circuitId, side: 'initiator' })
      connection.begin({ ...facts, isEncrypted: secrets !== undefined }, secrets, line)
      line?.start()
      this.#lines.decided(id)
      setImmediate(() => connection.off('error', ignore))
      return connection
    } catch (error) {
      this.#lines.decided(id)
      connection.destroy()
      throw error
    }
  }

  /** Hosts a service. Rejects with a {@link RefusedByRouter} or another {@link ConnectionFailure}. */
  async bind(bind: RouterBind): Promise<RouterBinding> {
    const id = this.#nextId()
    this.#bindings.set(id, bind)
    // It may come right behind the answer.
    const isAnnounced = this.#announcesBindings ? this.#announced(id) : undefined
    try {
      const headers = [
        [EDGE_HEADER.publicKey, bind.keys?.publicKey],
        [EDGE_HEADER.assignedConnection, TRUE],
        [EDGE_HEADER.listener, textHeader(bind.listenerId)],
        [EDGE_HEADER.supportsInspection, TRUE],
        [EDGE_HEADER.supportsBindSuccess, TRUE],
        [EDGE_HEADER.usesXgress, TRUE],
        [EDGE_HEADER.instance, bind.instance === undefined ? undefined : textHeader(bind.instance)],
        [EDGE_HEADER.cost, bind.cost === undefined ? undefined : Uint8Array.of(bind.cost & 255, bind.cost >> 8)],
        [EDGE_HEADER.precedence, bind.precedence && Uint8Array.of(PRECEDENCE[bind.precedence])],
      ] as const
      const request = edgeMessage(EDGE_TYPE.bind, id, headers, textHeader(bind.sessionToken))
      const answer = await this.#ask(request, bind.timeoutMs, bind.service)
      if (answer.contentType !== EDGE_TYPE.stateConnected) throw new RefusedByRouter(answer, bind.service)
      await isAnnounced
    } catch (error) {
      this.#bindings.delete(id)
      this.#unannounced.get(id)?.()
      throw error
    }
    return {
      close: () => {
        if (!this.#bindings.delete(id) || !this.#isOpen) return
        this.#talk.send(edgeMessage(EDGE_TYPE.unbind, id, [], textHeader(bind.sessionToken)))
        this.#talk.send(edgeMessage(EDGE_TYPE.stateClosed, id))
      },
    }
  }

  /** Tells the router the access token that replaces the one of its greeting. Rejects when it does not take it. */
  async updateToken(accessToken: string): Promise<void> {
    const body = [textHeader(accessToken)]
    const request = { contentType: EDGE_TYPE.updateToken, headers: new Map<number, Uint8Array>(), body }
    const answer = await this.#ask(request, HELLO_MS, 'the session')
    if (answer.contentType !== EDGE_TYPE.tokenUpdated) throw new RefusedByRouter(answer, 'the session')
  }

  /** The router answers before the controller knows, and until then nobody gets there. */
  #announced(id: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        cancel()
        this.#unannounced.delete(id)
        resolve()
      }
      const cancel = this.#timer(ANNOUNCED_MS, settle)
      this.#unannounced.set(id, settle)
    })
  }

  async #ask(request: Parameters<Conversation['ask']>[0], timeoutMs: number, what: string): Promise<Frame> {
    try {
      return await this.#talk.ask(request, timeoutMs)
    } catch (cause) {
      if (!(cause instanceof NoAnswer)) throw cause
      throw cause.why === 'closed'
        ? new ConnectionFailure('CONNECTION_LOST', `${what}: the router is gone`, { cause })
        : new ConnectionFailure('TIMED_OUT', `${what}: no answer within ${timeoutMs} ms`, { cause })
    }
  }

  #take(message: Frame): void {
    this.#unanswered = 0
    const id = readUint32(message.headers, EDGE_HEADER.connection)
    if (id === undefined) return
    if (message.contentType === EDGE_TYPE.payload || message.contentType === EDGE_TYPE.acknowledgement) {
      this.#lines.take(id, message, this.#connections.has(id))
      return
    }
    if (message.contentType === EDGE_TYPE.bindSuccess) this.#unannounced.get(id)?.()
    if (message.contentType === EDGE_TYPE.data) {
      this.#connections.get(id)?.arrived(bodyOf(message), readUint32(message.headers, EDGE_HEADER.flags) ?? 0)
    } else if (message.contentType === EDGE_TYPE.stateClosed) this.#end(id, message)
    else if (message.contentType === EDGE_TYPE.dial) {
      this.#dialed(id, message).catch((error: unknown) => this.#refuse(message, id, String(error)))
    } else if (message.contentType === EDGE_TYPE.inspect) this.#inspected(id, message)
    else if (message.contentType === EDGE_TYPE.traceRoute || message.contentType === EDGE_TYPE.circuitControl) {
      const answer = this.#connections.has(id) ? answerOfEnd(message, id, HOP_TYPE) : undefined
      if (answer !== undefined) this.#talk.send(answer)
    }
  }

  #windowsOf(granted: Frame, connection: ServiceConnection, facts: WindowedFacts): WindowedLine | undefined {
    return this.#lines.windowsOf(granted, connection, facts, () => void this.#connections.delete(facts.connectionId))
  }

  /** Whether it is a connection that is over, or a service that is not hosted there any more. */
  #end(id: number, message: Frame): void {
    const connection = this.#connections.get(id)
    const refusal = new RefusedByRouter(message, connection?.service ?? '')
    // A peer that closes gives no reason, or free words; a router that cuts gives a number.
    if (connection !== undefined && refusal.hasCode) connection.over(refusal)
    if (this.#lines.cut(id)) return
    if (connection !== undefined) {
      this.#connections.delete(id)
      connection.over()
      return
    }
    const bind = this.#bindings.get(id)
    this.#bindings.delete(id)
    this.#unannounced.get(id)?.()
    bind?.onEnd(new RefusedByRouter(message, bind.service))
  }

  async #dialed(bindId: number, message: Frame): Promise<void> {
    const bind = this.#bindings.get(bindId)
    const id = readUint32(message.headers, EDGE_HEADER.assignedConnection)
    if (bind === undefined || id === undefined) return this.#refuse(message, bindId, 'no listener for the connection')
    const caller = {
      id: readText(message.headers, EDGE_HEADER.dialerId),
      name: readText(message.headers, EDGE_HEADER.dialerName),
      claimedName: readText(message.headers, EDGE_HEADER.callerName) ?? '',
    }
    const applicationData = message.headers.get(EDGE_HEADER.applicationData) ?? new Uint8Array()
    const objection = await this.#judged(bind, caller, applicationData)
    if (objection !== undefined) return this.#refuse(message, bindId, `rejected by application: ${objection}`)
    const cipher = bind.keys === undefined ? undefined : await loadEndToEnd()
    const peerKey = message.headers.get(EDGE_HEADER.publicKey)
    const keys = cipher && bind.keys && cipher.agree('server', bind.keys, peerKey)
    if (!this.#isOpen) return
    const connection = new ServiceConnection(this.#lineOf(id), bind.service)
    this.#connections.set(id, connection)
    // A stream nobody listens to ends the process with its first error.
    connection.on('error', () => undefined)
    const success = edgeMessage(EDGE_TYPE.dialSuccess, bindId, [], uint32Header(id))
    this.#talk.reply(message, success)
    const circuitId = readText(message.headers, EDGE_HEADER.circuit) ?? ''
    const line = this.#windowsOf(message, connection, { connectionId: id, circuitId, side: 'terminator' })
    const facts = { service: bind.service, caller, applicationData, circuitId, isEncrypted: keys !== undefined }
    connection.begin(facts, cipher && keys && { cipher, keys }, line)
    bind.accept(connection)
    this.#lines.decided(id)
  }

  async #judged(bind: RouterBind, caller: Caller, applicationData: Uint8Array): Promise<string | undefined> {
    let cancel = (): void => undefined
    const late = new Promise<string>((resolve) => {
      cancel = this.#timer(JUDGE_MS, () => resolve('no decision in time'))
    })
    try {
      return await Promise.race([bind.judge(caller, applicationData), late])
    } finally {
      cancel()
    }
  }

  #refuse(message: Frame, bindId: number, why: string): void {
    this.#talk.reply(message, edgeMessage(EDGE_TYPE.dialFailed, bindId, [], textHeader(why)))
  }

  /** The router asks whether a service is still hosted. */
  #inspected(id: number, message: Frame): void {
    const kind = this.#bindings.has(id) ? 2 : this.#connections.has(id) ? 1 : 0
    this.#talk.reply(message, edgeMessage(EDGE_TYPE.inspected, id, [[EDGE_HEADER.connectionKind, Uint8Array.of(kind)]]))
  }

  #lineOf(id: number): Line {
    return this.#lines.ofRouter(id, () => this.#connections.delete(id))
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId % 0x7f_ff_ff_fe) + 1
    while ([this.#connections, this.#lines, this.#bindings].some((known) => known.has(this.#lastId)))
    return this.#lastId
  }

  /** Asks the router from time to time whether it is there: one that lost its network is silent. */
  #probeLater(): void {
    this.#timer(PROBE_MS, () => {
      if (!this.#isOpen) return
      // Bytes that wait here show that the router is slow, not that it is gone.
      if (this.#channel.queuedBytes === 0 && !this.isHeld) this.#unanswered += 1
      if (this.#unanswered > MOST_UNANSWERED) {
        this.#channel.destroy()
        return
      }
      const probe = edgeMessage(EDGE_TYPE.latency, 0, [[EDGE_HEADER.probe, new Uint8Array(8)]])
      this.#talk.ask(probe, PROBE_MS).then(
        () => {
          this.#unanswered = 0
        },
        () => undefined,
      )
      this.#probeLater()
    })
  }

  #closed(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const lost = (what: string) =>
      new ConnectionFailure('CONNECTION_LOST', `${what}: the connection to the router is lost`)
    const connections = [...this.#connections.values()]
    const bindings = [...this.#bindings.values()]
    this.#connections.clear()
    this.#bindings.clear()
    for (const connection of connections) connection.over(lost(connection.service))
    this.#lines.closed()
    for (const settle of [...this.#unannounced.values()]) settle()
    for (const bind of bindings) bind.onEnd(lost(bind.service))
    this.#onClose()
  }
}
