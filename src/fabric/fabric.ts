import { Lifetime } from '../concurrency/lifetime.ts'
import { logFailure } from '../context/background-failure.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { DataPlaneView } from '../context/context.ts'
import { provideOwnRouter } from '../enrollment/provided-router.ts'
import type {
  ChannelRefusal,
  ControlPlane,
  ControlPlaneOptions,
  OwnRouter,
  OwnRouterRequest,
  ProcessChannel,
  ProcessProofs,
  ProcessSession,
  RouterChannel,
  RouterGreeting,
  RouterSession,
  SocketAdmission,
  ToRouter,
  VerifiedSocket,
} from '../facts/fabric/messages/index.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { CONTROLLER_VERSION } from '../facts/routers/versions.rules.ts'
import type { DisconnectReason } from '../ports/router-presence.ts'
import { findOne } from '../records/read-records.ts'
import type { Presence } from '../routers/presence.ts'
import { admitRouter, routerFacts } from '../routers/router-admission.ts'
import { assembleFabric, type FabricHost, type FabricParts } from './assemble-fabric.ts'
import { ChangeFollower, disabledRouters, followChanges, termsOf } from './change-follower.ts'
import { boundedLinkListeners } from './channels/bounded-reports.ts'
import { refusalOf, verifySocket } from './channels/channel-admission.ts'
import type { ConnectedRouter } from './channels/connected-routers.ts'
import { removed } from './channels/peers.ts'
import { controllerIdOf } from './controller-id.ts'
import { fabricView } from './data-plane-view.ts'
import { Holders } from './processes/holders.ts'
import { sealedProofs } from './processes/process-proofs.ts'
import { RelayedRouters } from './processes/relayed-routers.ts'
import { ConnectedSession } from './router-session.ts'
import { shutOut } from './shut-out.ts'

/** Milliseconds within which a write of another process is noticed, half of the promised time. */
const WRITES_LOOK_MS = 1000
/** Milliseconds between looks for better paths. */
const CYCLE_MS = 60_000
/** Milliseconds for which a connected router keeps its place against another connection under its id. */
const CHURN_MS = 60_000

/** The data plane of this process: the routers that are connected to it, and the circuits that it lays over them. */
export class Fabric implements ControlPlane {
  readonly controllerId: string
  readonly view: DataPlaneView
  readonly proofs: ProcessProofs
  readonly #parts: FabricParts
  readonly #relayed: RelayedRouters
  readonly #holders: Holders
  #options: ControlPlaneOptions
  readonly #host: FabricHost
  readonly #follower: ChangeFollower
  readonly #startedAt: number
  #improvedAt: number
  readonly #lifetime = new Lifetime('the fabric is closed')

  constructor(engine: FabricHost, presence: Presence, options: ControlPlaneOptions) {
    const { context } = engine
    this.#options = options
    this.#host = engine
    this.controllerId = controllerIdOf(context.digest, options.addresses)
    this.#startedAt = context.clock.now()
    this.#improvedAt = this.#startedAt
    this.#parts = assembleFabric(engine, presence, options)
    const [address = ''] = options.addresses
    this.proofs = sealedProofs({ processId: context.random.uuid(), address }, context)
    this.#relayed = new RelayedRouters({ ...this.#parts, sessionOf: (router) => this.#sessionOf(router) })
    this.#holders = new Holders({
      context,
      presence,
      proofs: this.proofs,
      address,
      dial: options.dialProcess,
      relayed: this.#relayed,
      onOthers: (addresses) => this.#parts.relays.expect(addresses),
    })
    this.view = fabricView(this.#parts, this.#holders)
    const following = { ...this.#parts, relayed: this.#relayed }
    this.#follower = new ChangeFollower(context, (tx, changes) => followChanges(following, tx, changes))
    context.writes.follow(() => this.#look())
    context.timetable.onDue('fabric', async () => this.#tick())
    presence.knownWhile(() => this.#parts.circuits.size > 0)
    presence.onDisconnect((routerId, reason) => this.#letGo(routerId, reason))
  }

  async verify(
    routerId: string,
    chain: readonly Uint8Array[],
    remoteAddress: string | undefined,
  ): Promise<SocketAdmission> {
    const admission = await this.#told(routerId, verifySocket(this.#parts.context, chain))
    if (!admission.admitted) this.#tellRefused(routerId, admission.reason, remoteAddress)
    return admission
  }

  async admit(routerId: string, { fingerprint, remoteAddress }: VerifiedSocket): Promise<ChannelRefusal | undefined> {
    const read = this.#parts.context.storage.read((tx) => routerFacts(tx, routerId))
    const facts = await this.#told(routerId, read)
    const reason = refusalOf(admitRouter(facts, fingerprint))
    if (reason !== undefined) this.#tellRefused(routerId, reason, remoteAddress)
    return reason
  }

  async connect(
    greeting: RouterGreeting,
    { fingerprint, remoteAddress }: VerifiedSocket,
    channel: RouterChannel,
  ): Promise<RouterSession | ChannelRefusal> {
    const { context, presence, routers } = this.#parts
    const { routerId: id, software } = greeting
    const linkListeners = boundedLinkListeners(greeting.linkListeners)
    let terms: Awaited<ReturnType<typeof termsOf>>
    let disabled: readonly string[] = []
    let hasPlace = true
    const connecting = presence.routerConnected(id, fingerprint, {
      alsoRead: async (tx) => {
        terms = await termsOf(tx, id)
        disabled = await disabledRouters(tx)
      },
      takesPlace: () => {
        hasPlace = this.#makePlace(id)
        return hasPlace && this.#lifetime.isOpen
      },
    })
    const admission = await this.#told(id, connecting)
    if (!this.#lifetime.isOpen) return 'unknown'
    const reason = hasPlace ? refusalOf(admission) : 'already-connected'
    if (reason !== undefined) {
      this.#tellRefused(id, reason, remoteAddress)
      return reason
    }
    if (terms === undefined) return 'unknown'
    const { isEdgeRouter, ...rest } = terms
    const connectedAt = context.clock.now()
    const router: ConnectedRouter = {
      id,
      isEdgeRouter,
      fingerprint,
      software,
      capabilities: greeting.capabilities,
      channel,
      connectedAt,
      isHeard: !greeting.isResumed,
      linkListeners,
      terms: rest,
      isQuiesced: false,
    }
    routers.add(router)
    this.#parts.network.routersChanged()
    presence.routerSoftware(id, software, greeting.capabilities)
    presence.routerReport(id, { linkListeners })
    // Peers of this router may have been disabled while it was away, and it may still have links to them.
    if (disabled.length > 0) channel.send({ type: 'peers', changes: disabled.map(removed) })
    this.#relayed.reconsider(id)
    this.#parts.relays.changed(router)
    this.#greet(router)
    return this.#sessionOf(router)
  }

  serveProcess(channel: ProcessChannel, address: string): ProcessSession {
    return this.#parts.relays.open(channel, address)
  }

  ownRouter(request: OwnRouterRequest): Promise<OwnRouter> {
    const { context, presence } = this.#parts
    const willChange = (routerId: string, fingerprint: string) => presence.routerCertified(routerId, fingerprint)
    return provideOwnRouter(context, (body) => this.#host.createEdgeRouter(body), request, willChange)
  }

  log(event: string, facts: Readonly<Record<string, string>>): void {
    if (this.#lifetime.isOpen) this.#parts.context.logger.warn(`the router of this process: ${event}`, facts)
  }

  onKeysChanged(listener: () => void): () => void {
    return this.#parts.context.events.on('pki.changed', listener)
  }

  async startSession(identity: string): Promise<string> {
    const found = await this.#parts.context.storage.read(
      async (tx) => (await tx.collection(identities).get(identity)) ?? findOne(tx, identities, 'name', identity),
    )
    if (found === undefined) throw new Error(`there is no identity '${identity}'`)
    return (await this.#host.apiSessions.startFor(SYSTEM_CALL, found.id)).token
  }

  async close(): Promise<void> {
    this.#lifetime.end()
    this.#parts.context.timetable.set('fabric', 'tick', undefined)
    this.#parts.operators.close()
    this.#holders.close()
    this.#parts.relays.close()
    for (const { channel } of this.#parts.routers.allHeld()) channel.close()
    await this.#parts.model.close()
  }

  /** Disconnects a router whose certificate was admitted again; false for a router that connected less than a minute ago, which stays. */
  #makePlace(routerId: string): boolean {
    const { context, routers } = this.#parts
    const known = routers.held(routerId)
    if (known === undefined) return true
    if (context.clock.now() - known.connectedAt < CHURN_MS) return false
    known.channel.close()
    // This happens at once: a channel that closes later would take the new channel along.
    this.#disconnected(known)
    return true
  }

  #sessionOf(router: ConnectedRouter): ConnectedSession {
    return new ConnectedSession(this.#parts, router, {
      controllers: () => this.#addresses(),
      onClosed: () => this.#disconnected(router),
    })
  }

  #greet(router: ConnectedRouter): void {
    const { context, owed, peers, renewals, validation, ends } = this.#parts
    ends.settle(router)
    router.channel.send(this.#addresses())
    if (router.isEdgeRouter) router.channel.send({ type: 'edge-hello', version: CONTROLLER_VERSION })
    peers.introduce(router)
    void owed.tell(router, 'terminators', () => validation.ask(router))
    renewals.consider(router)
    context.timetable.notLater('fabric', 'tick', context.clock.now() + WRITES_LOOK_MS)
  }

  moveTo(addresses: readonly string[]): void {
    const { others = [] } = this.#options
    this.#options = { ...this.#options, addresses }
    this.#host.moved([...addresses, ...others])
  }

  #addresses(): ToRouter {
    const { addresses, others = [] } = this.#options
    const { digest } = this.#parts.context
    const peers = others.map((address) => ({ id: controllerIdOf(digest, [address]), addresses: [address] }))
    const controllers = [{ id: this.controllerId, addresses }, ...peers]
    return { type: 'controller-addresses', index: this.#startedAt, isComplete: false, controllers }
  }

  #disconnected(router: ConnectedRouter): void {
    const { routers, network, exchange, model, modelValidation, routerInspections, terminatorComparisons } = this.#parts
    const { owed, presence, peers, relays } = this.#parts
    model.forget(router)
    this.#parts.endpointPosture.forget(router)
    owed.forget(router)
    modelValidation.forget(router)
    routerInspections.forget(router)
    terminatorComparisons.forget(router)
    if (!routers.remove(router)) return
    network.routersChanged()
    exchange.routerGone(router.id)
    presence.routerDisconnected(router.id)
    peers.away(router.id)
    relays.gone(router.id)
    this.#relayed.reconsider(router.id)
  }

  #letGo(routerId: string, reason: DisconnectReason): void {
    // It renewed its certificate by way of another process, and comes back with the new one.
    if (reason === 'fingerprint') this.#parts.routers.held(routerId)?.channel.close()
    else shutOut(this.#parts, routerId, reason === 'deleted' ? 'router-deleted' : 'router-shut-out')
  }

  #look(): void {
    if (this.#parts.routers.size > 0) void this.#follower.look()
  }

  async #tick(): Promise<void> {
    const { context, owed, routers, rerouting, model, presence } = this.#parts
    const now = context.clock.now()
    if (routers.size === 0 || !this.#lifetime.isOpen) return
    context.timetable.set('fabric', 'tick', now + WRITES_LOOK_MS)
    if (now - this.#improvedAt >= CYCLE_MS) {
      this.#improvedAt = now
      rerouting.improve()
    }
    // A change by time alone needs a new revision of the store.
    if (model.isDue(now)) await presence.renew()
    await this.#follower.look()
    await this.#holders.look()
    model.catchUp()
    await owed.tryAgain()
  }

  /** Logs the failure of work for a router, which gets no answer and comes again. */
  async #told<T>(routerId: string, work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      logFailure(this.#parts.context.logger, 'a router could not be let in', error, { routerId })
      throw error
    })
  }

  #tellRefused(routerId: string, reason: ChannelRefusal, remoteAddress: string | undefined): void {
    const { events, clock } = this.#parts.context
    events.emit('router.refused', { routerId, reason, remoteAddress, at: clock.now() })
  }
}
