import { type ControlListener, routerSide } from 'portcullis/fabric'
import { bodyOf, type EnrolledRouter, FakeRouter } from 'portcullis/testing'
import { ApiSessions, ApiSessionsAdded } from '../../adapters/network/fabric/messages/edge-definitions.ts'

const { CONTENT_TYPE, HEADER, textBytes } = routerSide
type Texts = Readonly<Record<number, string>>

/** A played router at one process, and everything that it was told there. */
export class RouterEar {
  readonly router: FakeRouter
  /** Circuits that it was told to forget. */
  readonly unrouted = new Set<string>()
  /** API sessions by id that it lets in by `zt-session`. */
  readonly sessions = new Set<string>()
  /** The model: entities by kind and id, and who is related to a policy. */
  readonly entities = new Map<string, { readonly disabled?: boolean }>()
  readonly relations = new Set<string>()
  isModelWhole = true
  #index = 0
  #isRefused = false

  constructor(enrolled: EnrolledRouter, listener: ControlListener) {
    this.router = new FakeRouter(enrolled, listener, { onFrame: (frame) => this.#hear(frame) })
  }

  get id(): string {
    return this.router.id
  }

  get isOpen(): boolean {
    return !this.#isRefused && !this.router.isClosed
  }

  async connect(): Promise<boolean> {
    const { accepted } = await this.router.connect()
    this.#isRefused = !accepted
    return accepted
  }

  subscribe(durationSeconds = 30 * 24 * 3600): void {
    const body = routerSide.Subscribe.encode({ subscriptionDurationSeconds: durationSeconds, subscriptionId: 'mine' })
    this.router.send(CONTENT_TYPE.subscribeToModel, body)
  }

  link(id: string, target: string): void {
    const link = { id, destRouterId: target, linkProtocol: 'tls', dialAddress: 'tls:there:1', iteration: 1 }
    const links = [{ ...link, connState: undefined }]
    this.router.send(CONTENT_TYPE.routerLinks, routerSide.RouterLinks.encode({ links, fullRefresh: false }))
  }

  /** Dials as an SDK does, by the oldest message. */
  dialByBody(sessionToken: string, apiSessionToken: string): Promise<Dialed> {
    const body = routerSide.CreateCircuit.encode({ sessionToken, apiSessionToken })
    return this.#dialed(CONTENT_TYPE.createCircuit, body, new Map())
  }

  /** Dials as an SDK does, with a service session or by naming identity and service. */
  dialByHeaders(texts: Texts): Promise<Dialed> {
    const type = HEADER.circuitServiceId in texts ? CONTENT_TYPE.createCircuitV3 : CONTENT_TYPE.createCircuitV2
    const headers = new Map(Object.entries(texts).map(([key, text]) => [Number(key), textBytes(text)] as const))
    return this.#dialed(type, undefined, headers)
  }

  /** Dials for its own host. */
  dialForItself(serviceName: string, terminatorInstanceId = ''): Promise<Dialed> {
    const body = routerSide.CreateTunnelCircuit.encode({ serviceName, terminatorInstanceId })
    return this.#dialed(CONTENT_TYPE.createTunnelCircuit, body, new Map())
  }

  /** Hosts for an SDK; answers why not, or undefined. */
  async hostForSdk(address: string, sessionToken: string, apiSessionToken: string): Promise<string | undefined> {
    if (!this.isOpen) return 'not connected'
    const body = routerSide.CreateTerminator.encode({ address, sessionToken, apiSessionToken, instanceId: address })
    const answer = await this.router.request(CONTENT_TYPE.createTerminatorV2, body)
    if (answer.contentType !== CONTENT_TYPE.terminatorV2Created) return new TextDecoder().decode(bodyOf(answer))
    const { result, msg } = routerSide.TerminatorCreated.decode(bodyOf(answer))
    return result === 'success' ? undefined : `${result}: ${msg}`
  }

  /** Hosts itself; answers why not, or undefined. */
  async hostItself(serviceId: string, address: string): Promise<string | undefined> {
    if (!this.isOpen) return 'not connected'
    const body = routerSide.CreateTunnelTerminator.encode({ serviceId, address, startTime: 7n })
    const answer = await this.router.request(CONTENT_TYPE.createTunnelTerminator, body)
    if (answer.contentType !== CONTENT_TYPE.tunnelTerminatorCreated) return new TextDecoder().decode(bodyOf(answer))
    const { result, msg } = routerSide.TerminatorCreated.decode(bodyOf(answer))
    return result === 'success' ? undefined : `${result}: ${msg}`
  }

  async #dialed(type: number, body: Uint8Array | undefined, headers: Map<number, Uint8Array>): Promise<Dialed> {
    if (!this.isOpen) return { refused: 'not connected' }
    const answer = await this.router.request(type, body, headers)
    if (answer.contentType === CONTENT_TYPE.error) return { refused: new TextDecoder().decode(bodyOf(answer)) }
    const named = routerSide.readText(answer.headers, HEADER.createdCircuitId)
    return { circuitId: named ?? routerSide.CircuitCreated.decode(bodyOf(answer)).circuitId }
  }

  /** Takes what is told; answers whether the frame is an answer that somebody waits for. */
  #hear(frame: routerSide.Frame): boolean {
    switch (frame.contentType) {
      case CONTENT_TYPE.unroute:
        this.unrouted.add(routerSide.Unroute.decode(bodyOf(frame)).circuitId)
        return false
      case CONTENT_TYPE.apiSessionsAdded: {
        const { isFullState, apiSessions } = ApiSessionsAdded.decode(bodyOf(frame))
        if (isFullState) this.sessions.clear()
        for (const { id } of apiSessions) this.sessions.add(id)
        return false
      }
      case CONTENT_TYPE.apiSessionsUpdated:
        for (const { id } of ApiSessions.decode(bodyOf(frame)).apiSessions) this.sessions.add(id)
        return false
      case CONTENT_TYPE.apiSessionsRemoved:
        for (const id of routerSide.TokensAndIds.decode(bodyOf(frame)).ids) this.sessions.delete(id)
        return false
      case CONTENT_TYPE.modelState:
        this.entities.clear()
        this.relations.clear()
        this.#index = routerSide.StateFacts.decode(bodyOf(frame)).endIndex
        for (const event of routerSide.StateEvents.decode(bodyOf(frame)).events) this.#apply(event)
        return false
      case CONTENT_TYPE.modelChanges: {
        const { index, previousIndex } = routerSide.ChangeSetFacts.decode(bodyOf(frame))
        if (previousIndex !== this.#index) this.isModelWhole = false
        this.#index = index
        for (const event of routerSide.ChangeSetEvents.decode(bodyOf(frame)).changes) this.#apply(event)
        return false
      }
      default:
        return true
    }
  }

  #apply({ action, ...event }: ReturnType<typeof routerSide.StateEvents.decode>['events'][number]): void {
    const { servicePolicyChange: change } = event
    if (change !== undefined) {
      for (const id of change.relatedEntityIds) {
        const relation = `${change.policyId} ${change.relatedEntityType} ${id}`
        if (change.add) this.relations.add(relation)
        else this.relations.delete(relation)
      }
      return
    }
    const [kind, entity] = Object.entries(event).find(([, value]) => value !== undefined) ?? ['', undefined]
    const id = `${kind} ${String(Reflect.get(Object(entity), kind === 'publicKey' ? 'kid' : 'id') ?? '')}`
    if (action === 'delete') this.entities.delete(id)
    else this.entities.set(id, { disabled: Reflect.get(Object(entity), 'disabled') === true })
  }
}

/** A circuit, or why there is none. */
export type Dialed = { readonly circuitId: string } | { readonly refused: string }
