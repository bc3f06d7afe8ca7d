import { routerSide } from 'portcullis/fabric'
import { bodyOf, type EnrolledRouter, FakeRouter } from 'portcullis/testing'
import type { FabricWorld } from '../control/fabric-world.ts'

const { CONTENT_TYPE, HEADER, Route, Unroute } = routerSide
/** Nanoseconds for which a circuit that is confirmed was without traffic. */
const QUIET_NS = 60_000_000_000

/** A link that a router dialed. */
interface DialedLink {
  readonly id: string
  readonly target: string
  iteration: number
  isUp: boolean
}

/** A router that is played: it keeps which circuits it carries, as routers do, also while it is away. */
export class ChurningRouter {
  readonly id: string
  readonly name: string
  /** The circuits that it forwards. */
  readonly carried = new Set<string>()
  readonly links = new Map<string, DialedLink>()
  readonly hosted = new Set<string>()
  readonly #enrolled: EnrolledRouter
  #router: FakeRouter | undefined
  #count = 0

  constructor(name: string, enrolled: EnrolledRouter) {
    this.name = name
    this.id = enrolled.id
    this.#enrolled = enrolled
  }

  get isConnected(): boolean {
    return this.#router !== undefined && !this.#router.isClosed
  }

  /** Connects to a process and tells it its links. */
  async connect({ listener }: Pick<FabricWorld, 'listener'>): Promise<boolean> {
    const router = new FakeRouter(this.#enrolled, listener, { onFrame: (frame) => this.#take(frame) })
    if (!(await router.connect()).accepted) return false
    this.#router = router
    this.reportLinks(true)
    return true
  }

  disconnect(): void {
    this.#router?.close()
    this.#router = undefined
  }

  /** Dials a link, anew where it was down. */
  link(target: string): void {
    const known = this.links.get(target) ?? { id: `${this.name}-${target}`, target, iteration: 0, isUp: false }
    this.links.set(target, known)
    if (known.isUp) return
    known.iteration += 1
    known.isUp = true
    this.reportLinks(false)
  }

  /** A link breaks. */
  cut(target: string): void {
    const link = this.links.get(target)
    if (link?.isUp !== true) return
    link.isUp = false
    this.#send(CONTENT_TYPE.fault, routerSide.Fault.encode({ subject: 'link', id: link.id, iteration: link.iteration }))
  }

  reportLinks(fullRefresh: boolean): void {
    const links = [...this.links.values()].filter(({ isUp }) => isUp)
    const reported = links.map(({ id, target, iteration }) => ({
      id,
      destRouterId: target,
      linkProtocol: 'tls',
      dialAddress: 'tls:there:1',
      iteration,
      connState: undefined,
    }))
    this.#send(CONTENT_TYPE.routerLinks, routerSide.RouterLinks.encode({ links: reported, fullRefresh }))
  }

  /** Hosts a service once more. */
  async host(serviceId: string): Promise<void> {
    this.#count += 1
    const address = `${this.name}-${this.#count}-terminator`
    const answer = await this.#ask(
      CONTENT_TYPE.createTunnelTerminator,
      routerSide.CreateTunnelTerminator.encode({ serviceId, address, startTime: 1n }),
    )
    if (answer !== undefined) this.hosted.add(address)
  }

  async unhost(address: string): Promise<void> {
    this.hosted.delete(address)
    await this.#ask(CONTENT_TYPE.removeTerminators, routerSide.TerminatorIds.encode({ terminatorIds: [address] }))
  }

  /** Dials a service for its own host; whether it got a circuit. */
  async dial(serviceName: string): Promise<boolean> {
    const body = routerSide.CreateTunnelCircuit.encode({ serviceName })
    const answer = await this.#ask(CONTENT_TYPE.createTunnelCircuit, body)
    return answer !== undefined && answer.contentType !== CONTENT_TYPE.error
  }

  /** One end of a circuit is over. */
  end(subject: 'ingress' | 'egress', id: string): void {
    this.#send(CONTENT_TYPE.fault, routerSide.Fault.encode({ subject, id }))
  }

  /** Lists all that it carries as quiet. */
  confirm(): void {
    if (this.carried.size === 0) return
    const circuitIds = [...this.carried]
    const idleTimes = new Map(circuitIds.map((id) => [id, QUIET_NS]))
    this.#send(CONTENT_TYPE.circuitConfirmation, routerSide.CircuitConfirmation.encode({ circuitIds, idleTimes }))
  }

  #take(frame: routerSide.Frame): boolean {
    if (frame.contentType === CONTENT_TYPE.route) this.carried.add(Route.decode(bodyOf(frame)).circuitId)
    if (frame.contentType === CONTENT_TYPE.unroute) this.carried.delete(Unroute.decode(bodyOf(frame)).circuitId)
    if (frame.contentType === CONTENT_TYPE.fault) this.#lose(routerSide.Fault.decode(bodyOf(frame)).id)
    return frame.headers.has(HEADER.replyFor)
  }

  /** The controller says that a link is over. */
  #lose(linkId: string): void {
    for (const link of this.links.values()) if (link.id === linkId) link.isUp = false
  }

  #send(contentType: number, body: Uint8Array): void {
    if (this.isConnected) this.#router?.send(contentType, body)
  }

  /** Asks the controller; undefined where the router went away meanwhile. */
  async #ask(contentType: number, body: Uint8Array): Promise<routerSide.Frame | undefined> {
    const router = this.#router
    if (router === undefined || router.isClosed) return undefined
    const answer = await router.request(contentType, body).catch(() => undefined)
    if (router.received.length > 200) router.forget()
    return answer
  }
}
