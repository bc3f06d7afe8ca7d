import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { isAccessToken } from '../../../../src/data-plane.ts'
import type { EndpointFacts } from '../../../../src/policy.ts'
import type { Channel } from '../../channel/channel.ts'
import { Conversation, NoAnswer, type Timer } from '../../channel/conversation.ts'
import {
  bodyOf,
  CONNECTION_KIND,
  EDGE_HEADER,
  EDGE_TYPE,
  edgeMessage,
  TRUE,
  textIn,
} from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, readText, readUint32, textBytes } from '../../channel/header-values.ts'
import { writeReports } from '../../channel/posture-messages.ts'
import { answerOfEnd } from '../../channel/trace-routes.ts'
import { ConnectionFailure } from '../connection-failure.ts'
import { loadEndToEnd } from '../end-to-end.ts'
import { type Secrets, ServiceConnection } from '../service-connection.ts'
import { RefusedByRouter } from './refused-by-router.ts'
import { type HostingChannel, RouterBindings } from './router-bindings.ts'
import { type LineClock, RouterLines } from './router-lines.ts'
import type { RouterBind, RouterBinding, RouterDial } from './router-requests.ts'
import type { WindowedFacts, WindowedLine } from './windowed-line.ts'

/** Milliseconds between probes of the router. */
const PROBE_MS = 30_000
/** Unanswered probes after which the router counts as gone. */
const MOST_UNANSWERED = 3
/** Milliseconds that a router may take for its greeting. */
const HELLO_MS = 15_000
/** The end of a circuit at a program, in the words of an answer to a trace. */
const HOP_TYPE = 'sdk/portcullis'

/** The identity as it introduces itself to a router. */
export interface RouterGreeting {
  readonly apiSessionToken: string
  readonly identityId: string
}

/** The surroundings of a channel to a router. */
export interface RouterChannelParts extends LineClock {
  readonly onClose: () => void
}

/**
 * The channel between an identity and one router, with every connection through it and every service that is hosted there. When its socket
 * closes, the channel and everything on it ends.
 */
export class RouterChannel {
  readonly #channel: Channel
  readonly #talk: Conversation
  readonly #timer: Timer
  readonly #connections = new Map<number, ServiceConnection>()
  readonly #lines: RouterLines
  readonly #bindings: RouterBindings
  #lastId = 0
  #unanswered = 0
  #isOpen = true
  #routerName = ''
  #announcesBindings = false
  #judgesPosture = false
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
    this.#bindings = new RouterBindings(this.#hosting())
  }

  /** Greets a router. Rejects with a {@link ConnectionFailure} if it does not admit the identity. */
  static async open(channel: Channel, hello: RouterGreeting, parts: RouterChannelParts): Promise<RouterChannel> {
    const router = new RouterChannel(channel, parts)
    const headers = new Map([[EDGE_HEADER.apiSessionToken, textBytes(hello.apiSessionToken)]])
    const body = [textBytes(hello.identityId)]
    try {
      const answer = await router.#talk.ask({ contentType: EDGE_TYPE.hello, headers, body }, HELLO_MS)
      if (readBool(answer.headers, EDGE_HEADER.isAccepted) !== true) {
        const why = textIn(answer)
        throw new ConnectionFailure('ROUTER_UNREACHABLE', `the router refused this identity: ${why}`)
      }
      router.#routerName = readText(answer.headers, EDGE_HEADER.routerName) ?? ''
      router.#announcesBindings = readBool(answer.headers, EDGE_HEADER.supportsBindSuccess) === true
      router.#judgesPosture = judgesPostureOf(hello, answer)
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

  /** Whether all connections of the channel wait for a slow reader. */
  get isHeld(): boolean {
    return this.#lines.isHeld
  }

  /** Whether the channel has neither a connection nor a hosted service. */
  get isIdle(): boolean {
    return this.#connections.size === 0 && this.#bindings.size === 0 && this.#lines.windowed === 0
  }

  /** The id of the router, as the router reports it. */
  get routerName(): string {
    return this.#routerName
  }

  close(): void {
    this.#channel.close()
  }

  /** Dials a service. Rejects with a {@link RefusedByRouter} or another {@link ConnectionFailure}. */
  async dial(dial: RouterDial): Promise<ServiceConnection> {
    const { direct } = dial
    // An end that takes nothing else sends no key.
    const cipher = dial.isEncrypted && direct?.isRequired !== true ? await loadEndToEnd() : undefined
    const keys = cipher?.createKeyPair()
    const id = this.#nextId()
    const connection = this.#connectionOf(id, dial.service)
    // The caller does not have the connection yet, and an error without a listener ends the process.
    const ignore = () => undefined
    connection.on('error', ignore)
    try {
      const headers = [
        ...(direct?.headers ?? []),
        [EDGE_HEADER.publicKey, keys?.publicKey],
        [EDGE_HEADER.callerName, textBytes(dial.callerName)],
        [EDGE_HEADER.applicationData, dial.applicationData],
        [EDGE_HEADER.instance, dial.instance === undefined ? undefined : textBytes(dial.instance)],
        [EDGE_HEADER.usesXgress, TRUE],
      ] as const
      const request = edgeMessage(EDGE_TYPE.connect, id, headers, textBytes(dial.sessionToken))
      const answer = await this.#ask(request, dial.timeoutMs, dial.service)
      if (answer.contentType !== EDGE_TYPE.stateConnected) {
        const refusal = new RefusedByRouter(answer, dial.service)
        throw direct?.refusal(refusal) ?? refusal
      }
      const circuitId = readText(answer.headers, EDGE_HEADER.circuit) ?? ''
      const side = { role: 'dialer', circuitId } as const
      const agreed = await direct?.agreed(answer.headers, side)
      const secrets: Secrets | undefined =
        agreed === undefined && cipher && keys
          ? { cipher, keys: cipher.agree('client', keys, answer.headers.get(EDGE_HEADER.publicKey)) }
          : undefined
      const applicationData = dial.applicationData ?? new Uint8Array()
      const facts = { service: dial.service, caller: undefined, applicationData, circuitId }
      const line = this.#windowsOf(answer, connection, { connectionId: id, circuitId, side: 'initiator' })
      connection.begin({ ...facts, isEncrypted: secrets !== undefined }, secrets, line)
      line?.start()
      this.#decided(id)
      const given = agreed === undefined ? connection : await agreed.prove(connection, { ...facts, isEncrypted: true })
      if (given !== connection) given.on('error', ignore)
      runtime.later(() => given.off('error', ignore))
      return given
    } catch (error) {
      this.#lines.decided(id)
      connection.destroy()
      throw error
    }
  }

  /** Hosts a service. Rejects with a {@link RefusedByRouter} or another {@link ConnectionFailure}. */
  bind(bind: RouterBind): Promise<RouterBinding> {
    return this.#bindings.bind(bind)
  }

  /** Sends the router the next access token. Rejects if the router refuses it. */
  async updateToken(accessToken: string): Promise<void> {
    const body = [textBytes(accessToken)]
    const request = { contentType: EDGE_TYPE.updateToken, headers: new Map<number, Uint8Array>(), body }
    const answer = await this.#ask(request, HELLO_MS, 'the session')
    if (answer.contentType !== EDGE_TYPE.tokenUpdated) throw new RefusedByRouter(answer, 'the session')
  }

  /** Reports facts of this machine to a router that judges the posture of sessions. */
  report(facts: EndpointFacts): void {
    if (!this.#judgesPosture) return
    this.#talk.send({ contentType: EDGE_TYPE.posture, headers: new Map(), body: [writeReports(facts, runtime.now())] })
  }

  #hosting(): HostingChannel {
    return {
      timer: this.#timer,
      talk: this.#talk,
      isOpen: () => this.#isOpen,
      announcesBindings: () => this.#announcesBindings,
      nextId: () => this.#nextId(),
      ask: (request, timeoutMs, what) => this.#ask(request, timeoutMs, what),
      connectionOf: (id, service) => this.#connectionOf(id, service),
      windowsOf: (granted, connection, facts) => this.#windowsOf(granted, connection, facts),
      decided: (id) => this.#decided(id),
    }
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
    const isPayload = message.contentType === EDGE_TYPE.payload || message.contentType === EDGE_TYPE.acknowledgement
    if (this.#connections.get(id)?.hasBegun === false && (isPayload || message.contentType === EDGE_TYPE.stateClosed)) {
      this.#lines.keep(id, message)
      return
    }
    if (isPayload) {
      this.#lines.take(id, message)
      return
    }
    if (message.contentType === EDGE_TYPE.bindSuccess) this.#bindings.announced(id)
    if (message.contentType === EDGE_TYPE.data) {
      this.#connections.get(id)?.arrived(bodyOf(message), readUint32(message.headers, EDGE_HEADER.flags) ?? 0)
    } else if (message.contentType === EDGE_TYPE.stateClosed) this.#end(id, message)
    else if (message.contentType === EDGE_TYPE.dial) this.#bindings.dialed(id, message)
    else if (message.contentType === EDGE_TYPE.inspect) this.#inspected(id, message)
    else if (message.contentType === EDGE_TYPE.traceRoute || message.contentType === EDGE_TYPE.circuitControl) {
      const answer = this.#connections.has(id) ? answerOfEnd(message, id, HOP_TYPE) : undefined
      if (answer !== undefined) this.#talk.send(answer)
    }
  }

  /** A dial is decided: its connection gets the messages that arrived meanwhile. */
  #decided(id: number): void {
    for (const message of this.#lines.decided(id)) this.#take(message)
  }

  #windowsOf(granted: Frame, connection: ServiceConnection, facts: WindowedFacts): WindowedLine | undefined {
    return this.#lines.windowsOf(granted, connection, facts, () => void this.#connections.delete(facts.connectionId))
  }

  /** Ends a connection, or the hosting of a service. */
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
    this.#bindings.ended(id, message)
  }

  /** The router asks whether a connection is known, or a service is still hosted. */
  #inspected(id: number, message: Frame): void {
    const { bind, dial, unknown } = CONNECTION_KIND
    const kind = this.#bindings.has(id) ? bind : this.#connections.has(id) ? dial : unknown
    this.#talk.reply(message, edgeMessage(EDGE_TYPE.inspected, id, [[EDGE_HEADER.connectionKind, Uint8Array.of(kind)]]))
  }

  #connectionOf(id: number, service: string): ServiceConnection {
    const line = this.#lines.ofRouter(id, () => this.#connections.delete(id))
    const connection = new ServiceConnection(line, service)
    this.#connections.set(id, connection)
    return connection
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId % 0x7f_ff_ff_fe) + 1
    while ([this.#connections, this.#lines, this.#bindings].some((known) => known.has(this.#lastId)))
    return this.#lastId
  }

  /** Probes the router from time to time: a router that lost its network is silent. */
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
    this.#connections.clear()
    for (const connection of connections) connection.over(lost(connection.service))
    this.#lines.closed()
    this.#bindings.closed(lost)
    this.#onClose()
  }
}

/** Whether a router judges the posture of a session: controllers judge the sessions that they store. */
function judgesPostureOf({ apiSessionToken }: RouterGreeting, { headers }: Frame): boolean {
  return readBool(headers, EDGE_HEADER.supportsPosture) === true && isAccessToken(apiSessionToken)
}
