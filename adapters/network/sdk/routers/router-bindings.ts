import type { Conversation, Message, Timer } from '../../channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readText, readUint32, textBytes, uint32Header } from '../../channel/header-values.ts'
import { ConnectionFailure } from '../connection-failure.ts'
import { loadEndToEnd } from '../end-to-end.ts'
import type { Caller, ServiceConnection } from '../service-connection.ts'
import { RefusedByRouter } from './refused-by-router.ts'
import type { RouterBind, RouterBinding } from './router-requests.ts'
import type { WindowedFacts, WindowedLine } from './windowed-line.ts'

/** Milliseconds after which a service counts as hosted although its router has not said so yet. */
const ANNOUNCED_MS = 5000
/** Milliseconds within which a host answers a dialer; routers wait for five seconds. */
const JUDGE_MS = 4500
/** Words by which routers and callers know that the host itself refused. */
const REJECTED = 'rejected by application'
const PRECEDENCE = { default: 0, required: 1, failed: 2 } as const

/** The channel to a router, as the services that are hosted there use it. */
export interface HostingChannel {
  readonly timer: Timer
  readonly talk: Pick<Conversation, 'send' | 'reply'>
  isOpen(): boolean
  /** Whether the router tells when callers can reach a service. */
  announcesBindings(): boolean
  /** An id that nothing of the channel has. */
  nextId(): number
  /** Rejects with a connection failure. */
  ask(request: Message, timeoutMs: number, what: string): Promise<Frame>
  /** A connection of a caller, under the id that its router gave it. */
  connectionOf(id: number, service: string): ServiceConnection
  /** The windows of a connection; undefined where the router keeps them. */
  windowsOf(granted: Frame, connection: ServiceConnection, facts: WindowedFacts): WindowedLine | undefined
  /** A dial is decided: messages that came early for its connection may be handed over. */
  decided(id: number): void
}

/** The services that one identity hosts at one router, and the callers that the router brings to them. */
export class RouterBindings {
  readonly #channel: HostingChannel
  readonly #bindings = new Map<number, RouterBind>()
  /** Services whose router said that it would tell when callers can reach them. */
  readonly #unannounced = new Map<number, (failure?: ConnectionFailure) => void>()
  /** The connections of dials that are being judged: the router ends a connection that it waits for no longer. */
  readonly #judging = new Set<number>()

  constructor(channel: HostingChannel) {
    this.#channel = channel
  }

  get size(): number {
    return this.#bindings.size
  }

  has(id: number): boolean {
    return this.#bindings.has(id)
  }

  /** Hosts a service. Rejects with a {@link RefusedByRouter} or another connection failure. */
  async bind(bind: RouterBind): Promise<RouterBinding> {
    const id = this.#channel.nextId()
    this.#bindings.set(id, bind)
    // It may come right behind the answer.
    const isAnnounced = this.#channel.announcesBindings() ? this.#announced(id) : undefined
    try {
      const headers = [
        ...(bind.direct?.headers ?? []),
        [EDGE_HEADER.publicKey, bind.keys?.publicKey],
        [EDGE_HEADER.assignedConnection, TRUE],
        [EDGE_HEADER.listener, textBytes(bind.listenerId)],
        [EDGE_HEADER.supportsInspection, TRUE],
        [EDGE_HEADER.supportsBindSuccess, TRUE],
        [EDGE_HEADER.usesXgress, TRUE],
        [EDGE_HEADER.instance, bind.instance === undefined ? undefined : textBytes(bind.instance)],
        [EDGE_HEADER.cost, bind.cost === undefined ? undefined : Uint8Array.of(bind.cost & 255, bind.cost >> 8)],
        [EDGE_HEADER.precedence, bind.precedence && Uint8Array.of(PRECEDENCE[bind.precedence])],
      ] as const
      const request = edgeMessage(EDGE_TYPE.bind, id, headers, textBytes(bind.sessionToken))
      const answer = await this.#channel.ask(request, bind.timeoutMs, bind.service)
      if (answer.contentType !== EDGE_TYPE.stateConnected) throw new RefusedByRouter(answer, bind.service)
      const failure = await isAnnounced
      if (failure !== undefined) throw failure
    } catch (error) {
      // A router that answers late has bound the service, and would bring callers that no host takes.
      if (error instanceof ConnectionFailure && error.code === 'TIMED_OUT') this.#unbind(id, bind)
      this.#bindings.delete(id)
      this.announced(id)
      throw error
    }
    return { close: () => this.#unbind(id, bind) }
  }

  #unbind(id: number, { sessionToken }: RouterBind): void {
    if (!this.#bindings.delete(id) || !this.#channel.isOpen()) return
    const { talk } = this.#channel
    talk.send(edgeMessage(EDGE_TYPE.unbind, id, [], textBytes(sessionToken)))
    talk.send(edgeMessage(EDGE_TYPE.stateClosed, id))
  }

  /** Callers can reach a service. */
  announced(id: number): void {
    this.#unannounced.get(id)?.()
  }

  /** The router no longer hosts a service, or never did: the program that binds it waits for this notice. */
  ended(id: number, message: Frame): void {
    if (this.#judging.delete(id)) return
    const bind = this.#bindings.get(id)
    if (bind === undefined) return
    this.#bindings.delete(id)
    this.#end(id, bind, new RefusedByRouter(message, bind.service))
  }

  /** A caller dials a service, which its host may refuse. */
  dialed(bindId: number, message: Frame): void {
    const id = readUint32(message.headers, EDGE_HEADER.assignedConnection)
    if (id !== undefined) this.#judging.add(id)
    this.#accept(bindId, id, message)
      .catch((error: unknown) => this.#refuse(message, bindId, wordsOf(error)))
      .finally(() => this.#judging.delete(id ?? 0))
  }

  /** The channel is over: every service ends with a failure that `lost` makes of its name. */
  closed(lost: (service: string) => ConnectionFailure): void {
    const all = [...this.#bindings]
    this.#bindings.clear()
    for (const [id, bind] of all) this.#end(id, bind, lost(bind.service))
  }

  #end(id: number, bind: RouterBind, failure: ConnectionFailure): void {
    const settle = this.#unannounced.get(id)
    if (settle === undefined) bind.onEnd(failure)
    else settle(failure)
  }

  /**
   * The router answers before the controller knows the terminator, and no caller can reach it until then. Resolves with the failure if it
   * is not hosted.
   */
  #announced(id: number): Promise<ConnectionFailure | undefined> {
    return new Promise((resolve) => {
      const settle = (failure?: ConnectionFailure) => {
        cancel()
        this.#unannounced.delete(id)
        resolve(failure)
      }
      const cancel = this.#channel.timer(ANNOUNCED_MS, settle)
      this.#unannounced.set(id, settle)
    })
  }

  async #accept(bindId: number, id: number | undefined, message: Frame): Promise<void> {
    const bind = this.#bindings.get(bindId)
    if (bind === undefined || id === undefined) return this.#refuse(message, bindId, 'no listener for the connection')
    const circuitId = readText(message.headers, EDGE_HEADER.circuit) ?? ''
    const side = { role: 'host', circuitId } as const
    const agreed = await bind.direct?.agreed(message.headers, side)
    const caller: Caller = {
      id: readText(message.headers, EDGE_HEADER.dialerId),
      name: readText(message.headers, EDGE_HEADER.dialerName),
      claimedName: readText(message.headers, EDGE_HEADER.callerName) ?? '',
      isProved: agreed !== undefined,
      // The words of the controller about the dialer, in place of the words of the router.
      ...agreed?.caller,
    }
    const applicationData = message.headers.get(EDGE_HEADER.applicationData) ?? new Uint8Array()
    const objection = await this.#judged(bind, caller, applicationData)
    if (objection !== undefined) return this.#refuse(message, bindId, `${REJECTED}: ${objection}`)
    const cipher = bind.keys === undefined ? undefined : await loadEndToEnd()
    const peerKey = message.headers.get(EDGE_HEADER.publicKey)
    const keys = agreed === undefined ? cipher && bind.keys && cipher.agree('server', bind.keys, peerKey) : undefined
    // The router gave the dial up while it was judged.
    if (!this.#channel.isOpen() || !this.#judging.has(id)) return
    if (!bind.hasRoom()) return this.#refuse(message, bindId, `${REJECTED}: too many connections`)
    const connection = this.#channel.connectionOf(id, bind.service)
    // A stream without a listener ends the process with its first error.
    connection.on('error', () => undefined)
    this.#channel.talk.reply(message, edgeMessage(EDGE_TYPE.dialSuccess, bindId, [], uint32Header(id)))
    const line = this.#channel.windowsOf(message, connection, { connectionId: id, circuitId, side: 'terminator' })
    const facts = { service: bind.service, caller, applicationData, circuitId, isEncrypted: keys !== undefined }
    connection.begin(facts, cipher && keys && { cipher, keys }, line)
    bind.accept(connection, agreed?.prove(connection, facts))
    this.#channel.decided(id)
  }

  async #judged(bind: RouterBind, caller: Caller, applicationData: Uint8Array): Promise<string | undefined> {
    let cancel = (): void => undefined
    const late = new Promise<string>((resolve) => {
      cancel = this.#channel.timer(JUDGE_MS, () => resolve('no decision in time'))
    })
    try {
      return await Promise.race([bind.judge(caller, applicationData), late])
    } finally {
      cancel()
    }
  }

  #refuse(message: Frame, bindId: number, why: string): void {
    this.#channel.talk.reply(message, edgeMessage(EDGE_TYPE.dialFailed, bindId, [], textBytes(why)))
  }
}

function wordsOf(error: unknown): string {
  return error instanceof ConnectionFailure && error.code === 'NOT_PROVED'
    ? `${REJECTED}: ${error.message}`
    : String(error)
}
