import { dynamicCost, type Link } from '../../domain/fabric/index.ts'
import type {
  ChannelRefusal,
  ControlPlane,
  ControlPlaneOptions,
  RouterChannel,
  RouterGreeting,
  RouterSession,
  SocketAdmission,
} from '../../ports/fabric/index.ts'
import type { Change, ReadTransaction } from '../../ports/storage.ts'
import { sessions } from '../../resources/access/sessions.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { transitRouters } from '../../resources/routers/transit-routers.ts'
import type { CircuitView, DataPlaneView, EngineContext } from '../context/context.ts'
import { RouterCertificates } from '../enrollment/router-certificates.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { Presence } from '../routers/presence.ts'
import { ChangeFollower } from './change-follower.ts'
import { AccessLoss } from './circuits/access-loss.ts'
import { CircuitEnds } from './circuits/circuit-end.ts'
import { CircuitSetup } from './circuits/circuit-setup.ts'
import { LinkReports } from './circuits/link-reports.ts'
import { OpenCircuits } from './circuits/open-circuits.ts'
import { Rerouting } from './circuits/rerouting.ts'
import { RouteExchange } from './circuits/route-exchange.ts'
import { controllerIdOf } from './controller-id.ts'
import type { FabricParts } from './fabric-parts.ts'
import { ModelSubscriptions } from './model/model-subscriptions.ts'
import { ConnectedSession } from './router-session.ts'
import { admitSocket } from './routers/admission.ts'
import { type ConnectedRouter, ConnectedRouters } from './routers/connected-routers.ts'
import { Network } from './routers/network.ts'
import { Peers } from './routers/peers.ts'
import { AnnouncedSessions } from './sessions/announced-sessions.ts'
import { HostedTerminators } from './terminators/hosted-terminators.ts'
import { TerminatorValidation } from './terminators/terminator-validation.ts'

/** Milliseconds after which what another process did is noticed at the latest, half of what is promised. */
const LOOK_MS = 1000
/** Milliseconds between looks for better paths. */
const CYCLE_MS = 60_000
/** Milliseconds for which a connected router keeps its place against another one that says to be it. */
const CHURN_MS = 60_000
/** What routers read as the version of the controller; some check that it is new enough for what they do. */
const VERSION = 'v2.0.0'

/** What the data plane needs of the engine. */
interface FabricHost {
  readonly context: EngineContext
  readonly apiSessions: ApiSessions
}

/** The data plane of this process: the routers that are connected to it, and the circuits that it lays over them. */
export class Fabric implements ControlPlane, DataPlaneView {
  readonly controllerId: string
  readonly #parts: FabricParts
  readonly #options: ControlPlaneOptions
  readonly #follower: ChangeFollower
  readonly #accessLoss: AccessLoss
  readonly #startedAt: number
  #improvedAt: number
  #isClosed = false

  constructor(engine: FabricHost, presence: Presence, options: ControlPlaneOptions) {
    const { context } = engine
    this.#options = options
    this.controllerId = controllerIdOf(context.digest, options.addresses)
    this.#startedAt = context.clock.now()
    this.#improvedAt = this.#startedAt
    this.#parts = assemble(engine, presence, options)
    this.#accessLoss = new AccessLoss(context, this.#parts.circuits, this.#parts.ends)
    this.#follower = new ChangeFollower(context, (tx, changes) => this.#follow(tx, changes))
    context.writes.follow(() => this.#look())
    context.timetable.onDue('fabric', async () => this.#tick())
    presence.onDisconnect((routerId, reason) => {
      if (reason === 'deleted') this.#removed(routerId)
      this.#parts.routers.get(routerId)?.channel.close()
    })
  }

  links(): readonly Link[] {
    return this.#parts.network.all()
  }

  circuits(): readonly CircuitView[] {
    return this.#parts.circuits.all().map(({ id, client, serviceId, terminatorId, course, tags, createdAt }) => {
      const { path } = course
      return {
        id,
        clientId: client.identityId,
        serviceId,
        terminatorId,
        path,
        tags: Object.fromEntries(tags),
        createdAt,
      }
    })
  }

  dynamicCostOf(terminatorId: string): number {
    return dynamicCost(this.#parts.circuits.useOf(terminatorId), this.#parts.context.clock.now())
  }

  cutLink(id: string): boolean {
    return this.#parts.links.cut(id)
  }

  endCircuit(id: string, immediate: boolean): boolean {
    const circuit = this.#parts.circuits.get(id)
    if (circuit !== undefined) this.#parts.ends.end(circuit, 'removed', immediate)
    return circuit !== undefined
  }

  async admit(
    routerId: string,
    chain: readonly Uint8Array[],
    remoteAddress: string | undefined,
  ): Promise<SocketAdmission> {
    const { context } = this.#parts
    const admission = await admitSocket(context, routerId, chain)
    if (!admission.admitted) this.#tellRefused(routerId, admission.reason, remoteAddress)
    return admission
  }

  async connect(
    greeting: RouterGreeting,
    fingerprint: string,
    channel: RouterChannel,
  ): Promise<RouterSession | ChannelRefusal> {
    const { context, presence, routers } = this.#parts
    const { routerId: id, software, linkListeners } = greeting
    const terms = await context.storage.read((tx) => termsOf(tx, id))
    const known = routers.get(id)
    if (known !== undefined && context.clock.now() - known.connectedAt < CHURN_MS) {
      this.#tellRefused(id, 'already-connected', undefined)
      return 'already-connected'
    }
    known?.channel.close()
    const { accepted } = await presence.routerConnected(id, fingerprint)
    if (!accepted || terms === undefined || this.#isClosed) return 'unknown'
    const { isEdgeRouter, ...rest } = terms
    const connectedAt = context.clock.now()
    const router: ConnectedRouter = {
      id,
      isEdgeRouter,
      fingerprint,
      software,
      channel,
      connectedAt,
      linkListeners,
      terms: rest,
    }
    routers.add(router)
    this.#parts.network.routersChanged()
    presence.routerSoftware(id, software, greeting.capabilities)
    presence.routerReport(id, { linkListeners })
    this.#greet(router)
    return new ConnectedSession(this.#parts, router, () => this.#disconnected(router))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#parts.context.timetable.set('fabric', 'tick', undefined)
    for (const { channel } of this.#parts.routers.all()) channel.close()
  }

  #greet(router: ConnectedRouter): void {
    const { context, peers, validation } = this.#parts
    const { addresses } = this.#options
    const controllers = [{ id: this.controllerId, addresses }]
    router.channel.send({ type: 'controller-addresses', index: this.#startedAt, isComplete: false, controllers })
    if (router.isEdgeRouter) router.channel.send({ type: 'edge-hello', version: VERSION })
    peers.introduce(router)
    validation.ask(router).catch((error: unknown) => {
      context.logger.error('terminators could not be validated', { routerId: router.id, error: String(error) })
    })
    context.timetable.notLater('fabric', 'tick', context.clock.now() + LOOK_MS)
  }

  #disconnected(router: ConnectedRouter): void {
    const { routers, network, exchange, model, presence, peers } = this.#parts
    model.forget(router)
    if (!routers.remove(router)) return
    network.routersChanged()
    exchange.routerGone(router.id)
    presence.routerDisconnected(router.id)
    peers.away(router.id)
  }

  #removed(routerId: string): void {
    const { links, peers, circuits, ends } = this.#parts
    peers.removed(routerId)
    links.routerRemoved(routerId)
    for (const circuit of circuits.all()) {
      const { routers } = circuit.course.path
      if (routers[0] === routerId || routers.at(-1) === routerId) ends.end(circuit, 'router-deleted', true)
    }
  }

  #look(): void {
    if (this.#parts.routers.size > 0) void this.#follower.look()
  }

  async #tick(): Promise<void> {
    const { context, routers, rerouting } = this.#parts
    const now = context.clock.now()
    if (routers.size === 0 || this.#isClosed) return
    context.timetable.set('fabric', 'tick', now + LOOK_MS)
    if (now - this.#improvedAt >= CYCLE_MS) {
      this.#improvedAt = now
      rerouting.improve()
    }
    await this.#follower.look()
  }

  /** What takes something from somebody comes first. */
  async #follow(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    const { announced, model } = this.#parts
    this.#forgetSessions(changes ?? [])
    await this.#accessLoss.follow(tx, changes)
    await announced.follow(tx, changes ?? [])
    await this.#refreshTerms(tx, changes)
    model.look()
  }

  #forgetSessions(changes: readonly Change[]): void {
    const gone = changes.filter(({ kind, operation }) => kind === sessions.name && operation === 'delete')
    if (gone.length === 0) return
    const ids = gone.map(({ id }) => id)
    for (const { channel } of this.#parts.routers.edgeRouters()) channel.send({ type: 'sessions-removed', ids })
  }

  async #refreshTerms(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    const { routers, network } = this.#parts
    const isRouter = (kind: string) => kind === edgeRouters.name || kind === transitRouters.name
    const changed = changes?.filter(({ kind }) => isRouter(kind)).map(({ id }) => id)
    for (const id of changed ?? routers.all().map((router) => router.id)) {
      const router = routers.get(id)
      const terms = router && (await termsOf(tx, id))
      if (router === undefined || terms === undefined) continue
      router.terms = terms
      network.routersChanged()
    }
  }

  #tellRefused(routerId: string, reason: ChannelRefusal, remoteAddress: string | undefined): void {
    const { events, clock } = this.#parts.context
    events.emit('router.refused', { routerId, reason, remoteAddress, at: clock.now() })
  }
}

function assemble({ context, apiSessions }: FabricHost, presence: Presence, options: ControlPlaneOptions): FabricParts {
  const routers = new ConnectedRouters()
  const network = new Network(routers)
  const circuits = new OpenCircuits()
  const exchange = new RouteExchange(context, routers)
  const ends = new CircuitEnds(context, routers, circuits)
  const hosted = new HostedTerminators(context)
  const rerouting = new Rerouting({ context, network, circuits, exchange, ends })
  return {
    context,
    presence,
    apiSessions,
    routers,
    network,
    peers: new Peers(routers),
    links: new LinkReports(context, routers, network, rerouting),
    circuits,
    exchange,
    setup: new CircuitSetup({
      context,
      network,
      circuits,
      exchange,
      ends,
      onDeadTerminator: (terminator) => hosted.dead(terminator),
    }),
    ends,
    rerouting,
    hosted,
    validation: new TerminatorValidation(context, hosted),
    announced: new AnnouncedSessions(context, routers),
    model: new ModelSubscriptions(context, options.modelCodec),
    certificates: new RouterCertificates(context),
  }
}

async function termsOf(tx: ReadTransaction, id: string) {
  const edgeRouter = await tx.collection(edgeRouters).get(id)
  const router = edgeRouter ?? (await tx.collection(transitRouters).get(id))
  if (router === undefined) return undefined
  const { cost, noTraversal } = router
  return { cost, noTraversal, isEdgeRouter: edgeRouter !== undefined }
}
