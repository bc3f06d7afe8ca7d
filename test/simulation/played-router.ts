import { duplexPair } from 'node:stream'
import { routerSide } from 'portcullis/fabric'
import { bodyOf, type EnrolledRouter, FakeRouter } from 'portcullis/testing'
import { RouterKnowledge } from './router-knowledge.ts'
import type { SimulatedProcess, Surroundings } from './simulated-process.ts'

const { CONTENT_TYPE, Route, TunnelTerminatorCreated, Unroute } = routerSide
/** Nanoseconds for which a circuit that is confirmed was without traffic. */
const QUIET_NS = 60_000_000_000

/** Messages about the network that a router keeps, and about its own addresses. */
const LEARNT: ReadonlySet<number> = new Set([
  CONTENT_TYPE.modelState,
  CONTENT_TYPE.modelChanges,
  CONTENT_TYPE.apiSessionsAdded,
  CONTENT_TYPE.apiSessionsUpdated,
  CONTENT_TYPE.apiSessionsRemoved,
  CONTENT_TYPE.validateTerminators,
])

/** A circuit as one of its routers knows it. */
export interface CarriedCircuit {
  /** The address of its host, at the last router. */
  readonly destination: string | undefined
}

/** A link that a router dialed, and since when (epoch ms) it is up. */
interface PlayedLink {
  readonly id: string
  iteration: number
  isUp: boolean
  upAt: number
}

/** A router that is played: it keeps the circuits that it carries, as routers do, also while it is away. */
export class PlayedRouter {
  readonly name: string
  readonly id: string
  readonly carried = new Map<string, CarriedCircuit>()
  readonly links = new Map<string, PlayedLink>()
  /** The addresses that it hosts, with the service of each. */
  readonly hosted = new Map<string, string>()
  /** Its model and its sessions; undefined for a router that asks for neither. */
  readonly knowledge: RouterKnowledge | undefined
  readonly #enrolled: EnrolledRouter
  readonly #surroundings: Surroundings
  #channel: FakeRouter | undefined
  home: string | undefined
  /** Since when it is connected, by the time of the run; undefined while it connects. */
  acceptedAt: number | undefined
  #count = 0

  constructor(name: string, enrolled: EnrolledRouter, surroundings: Surroundings, learns: boolean) {
    this.name = name
    this.knowledge = learns ? new RouterKnowledge() : undefined
    this.id = enrolled.id
    this.#enrolled = enrolled
    this.#surroundings = surroundings
  }

  get isConnected(): boolean {
    return this.#channel !== undefined && !this.#channel.isClosed
  }

  /** Connects to a process, and reports its links. */
  async connect(process: SimulatedProcess): Promise<boolean> {
    const { running } = process
    if (running === undefined) return false
    this.disconnect()
    const { wires } = this.#surroundings
    const accept = (
      theirs: Parameters<typeof running.listener.accept>[0],
      chain: readonly Uint8Array[],
      from: string | undefined,
    ) => {
      // As sockets: the end of the other side closes.
      const [near, far] = duplexPair({ allowHalfOpen: false })
      wires.streams([this.name, process.name], theirs, near)
      running.listener.accept(far, chain, from)
    }
    const listener = { ...running.listener, accept, acceptProcess: () => undefined, close: async () => undefined }
    const channel = new FakeRouter(this.#enrolled, listener, { onFrame: (frame) => this.#take(frame) })
    this.#channel = channel
    this.home = process.name
    const { accepted } = await channel.connect()
    if (!accepted || this.#channel !== channel) return false
    this.acceptedAt = this.#surroundings.time.now
    this.reportLinks(true)
    if (this.knowledge !== undefined) this.#say({ type: 'edge-hello', hostname: this.name, listeners: [] })
    this.subscribe()
    return true
  }

  /** Asks for the data model, or goes on to follow it, as routers do now and again. */
  subscribe(): void {
    if (this.knowledge !== undefined)
      this.#say({ type: 'subscribe', subscriptionId: `of ${this.name}`, ...this.knowledge.position })
  }

  disconnect(): void {
    this.#channel?.close()
    this.#channel = undefined
    this.acceptedAt = undefined
  }

  link(target: PlayedRouter): void {
    const known = this.links.get(target.id) ?? { id: `${this.name}-${target.name}`, iteration: 0, isUp: false, upAt: 0 }
    this.links.set(target.id, known)
    if (known.isUp) return
    known.iteration += 1
    known.isUp = true
    known.upAt = this.#surroundings.time.now
    this.reportLinks(false)
  }

  cut(targetId: string): void {
    const link = this.links.get(targetId)
    if (link?.isUp !== true) return
    link.isUp = false
    this.send(CONTENT_TYPE.fault, routerSide.Fault.encode({ subject: 'link', id: link.id, iteration: link.iteration }))
  }

  reportLinks(fullRefresh: boolean): void {
    const links = [...this.links].filter(([, { isUp }]) => isUp)
    const reported = links.map(([destRouterId, { id, iteration }]) => ({
      ...{ id, destRouterId, iteration },
      ...{ linkProtocol: 'tls', dialAddress: 'tls:there:1', connState: undefined },
    }))
    this.send(CONTENT_TYPE.routerLinks, routerSide.RouterLinks.encode({ links: reported, fullRefresh }))
  }

  /** Hosts a service by its own identity; answers whether it may. */
  async host(serviceId: string): Promise<boolean> {
    this.#count += 1
    const address = `${this.name}-${this.#count}-terminator`
    const body = routerSide.CreateTunnelTerminator.encode({ serviceId, address, startTime: 1n })
    this.hosted.set(address, serviceId)
    const answer = await this.#ask(CONTENT_TYPE.createTunnelTerminator, body)
    const isHosted =
      answer?.contentType === CONTENT_TYPE.tunnelTerminatorCreated &&
      TunnelTerminatorCreated.decode(bodyOf(answer)).result === 'success'
    if (!isHosted) this.hosted.delete(address)
    return isHosted
  }

  /** Asks that addresses be removed, its own or not; answers whether the controller did so. */
  async remove(terminatorIds: readonly string[]): Promise<boolean> {
    const body = routerSide.TerminatorIds.encode({ terminatorIds })
    const answer = await this.#ask(CONTENT_TYPE.removeTerminators, body)
    return answer !== undefined && routerSide.readBool(answer.headers, routerSide.HEADER.success) === true
  }

  async unhost(address: string): Promise<void> {
    this.hosted.delete(address)
    await this.remove([address])
  }

  /** Dials a service by its own identity; answers the circuit, or the reason of the refusal. */
  async dial(serviceName: string): Promise<{ readonly circuitId?: string; readonly refused?: string }> {
    const answer = await this.#ask(
      CONTENT_TYPE.createTunnelCircuit,
      routerSide.CreateTunnelCircuit.encode({ serviceName }),
    )
    if (answer === undefined) return { refused: 'no answer' }
    if (answer.contentType === CONTENT_TYPE.error) return { refused: new TextDecoder().decode(bodyOf(answer)) }
    return { circuitId: routerSide.CircuitCreated.decode(bodyOf(answer)).circuitId }
  }

  end(subject: 'ingress' | 'egress', id: string): void {
    this.send(CONTENT_TYPE.fault, routerSide.Fault.encode({ subject, id }))
  }

  /** Lists all that it carries as quiet: controllers answer which of them are over. */
  confirm(others: readonly string[] = []): void {
    const circuitIds = [...this.carried.keys(), ...others]
    if (circuitIds.length === 0) return
    const idleTimes = new Map(circuitIds.map((id) => [id, QUIET_NS]))
    this.send(CONTENT_TYPE.circuitConfirmation, routerSide.CircuitConfirmation.encode({ circuitIds, idleTimes }))
  }

  send(contentType: number, body: Uint8Array): void {
    if (this.isConnected) this.#channel?.send(contentType, body)
  }

  sendRaw(bytes: Uint8Array): void {
    if (this.isConnected) this.#channel?.sendRaw(bytes)
  }

  #say(message: Parameters<typeof routerSide.writeFromRouter>[0]): void {
    const written = routerSide.writeFromRouter(message, this.id)
    if (written !== undefined && this.isConnected)
      this.#channel?.send(written.contentType, Buffer.concat(written.body), written.headers)
  }

  /** A controller wants a link closed. As deployed ones, a router that learns tells all of the loss, and keeps a link that it dialed since. */
  #faulted(target: string, link: PlayedLink, iteration: number): void {
    if (this.knowledge === undefined) link.isUp = false
    else if (iteration === 0 || iteration >= link.iteration) this.cut(target)
  }

  /** Controllers send nothing that a router cannot read. */
  #learn(frame: routerSide.Frame): void {
    try {
      this.#learnOf(frame)
    } catch (error) {
      if (this.knowledge !== undefined)
        this.knowledge.wrong ??= `cannot read a message of ${frame.contentType}: ${error}`
    }
  }

  #learnOf(frame: routerSide.Frame): void {
    const message = LEARNT.has(frame.contentType) ? routerSide.readToRouter(frame) : undefined
    if (message?.type === 'validate-terminators') {
      const valid = (id: string) => ({ valid: this.hosted.has(id), detail: '' })
      this.#say({
        type: 'terminators-validated',
        states: new Map(message.terminators.map(({ id }) => [id, valid(id)])),
      })
    } else if (message !== undefined && this.knowledge?.take(message)) this.subscribe()
  }

  #take(frame: routerSide.Frame): boolean {
    this.#surroundings.wires.cuts?.arrived(frame)
    if (this.knowledge !== undefined) this.#learn(frame)
    if (frame.contentType === CONTENT_TYPE.route) {
      const route = Route.decode(bodyOf(frame))
      this.carried.set(route.circuitId, { destination: route.egress?.destination })
    }
    if (frame.contentType === CONTENT_TYPE.unroute) this.carried.delete(Unroute.decode(bodyOf(frame)).circuitId)
    if (frame.contentType === CONTENT_TYPE.fault) {
      const { id, iteration } = routerSide.Fault.decode(bodyOf(frame))
      for (const [target, link] of this.links) if (link.id === id) this.#faulted(target, link, iteration)
    }
    return frame.contentType === CONTENT_TYPE.error || frame.headers.has(routerSide.HEADER.replyFor)
  }

  async #ask(contentType: number, body: Uint8Array): Promise<routerSide.Frame | undefined> {
    const channel = this.#channel
    if (channel === undefined || channel.isClosed) return undefined
    return channel.request(contentType, body).catch(() => undefined)
  }
}
