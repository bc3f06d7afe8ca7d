import { callIsolated } from '../concurrency/call-isolated.ts'
import type { DataPlanePresence } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import { placeOf } from '../context/store-level.ts'
import type { Timetable } from '../context/timetable.ts'
import type { Writes } from '../context/writes.ts'
import type { Events } from '../facts/network/events.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import type { ReadTransaction, Storage } from '../ports/record-storage.ts'
import type {
  DisconnectReason,
  HostedPresence,
  IdentityConnectionStatus,
  IdentityConnections,
  RouterAdmission,
  RouterConnection,
  RouterHello,
  RouterPresence,
  RouterVersion,
} from '../ports/router-presence.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import { ConnectionRecords } from './connection-records.ts'
import { ConnectedIdentities, OtherConnections, UNKNOWN_MS } from './connections.ts'
import { admitRouter, type RouterFacts, routerFacts } from './router-admission.ts'
import { RouterWatch } from './router-watch.ts'

interface Ports {
  readonly storage: Storage
  readonly writes: Writes
  readonly clock: Clock
  readonly events: Events
  readonly logger: Logger
  readonly timetable: Timetable
  /** Names this process among those over the same store. */
  readonly processId: string
  /** Asked for routers that are not connected here. */
  readonly elsewhere?: RouterPresence | undefined
}

interface Channel {
  fingerprint: string
  connection: RouterConnection
}

/** The part in a judgement of the process that holds the channel. */
interface Judging {
  /** Reads further facts of the router, in the snapshot by which it is judged. */
  readonly alsoRead?: (tx: ReadTransaction) => Promise<void>
  /** Asked once the router is admitted, before its earlier channel is closed: `false` keeps that one. */
  readonly takesPlace?: () => boolean
}

const SILENT: RouterConnection = { hostname: '', supportedProtocols: {}, syncStatus: 'SYNC_NEW' }
const REASONS = {
  unknown: 'deleted',
  disabled: 'disabled',
  unverified: 're-enrolled',
  fingerprint: 'fingerprint',
} as const

/**
 * The routers and identities that are connected to the data plane: to that of this process, as its host reports them,
 * and to those of others over the same store, as they keep them there.
 */
export class Presence implements HostedPresence, DataPlanePresence {
  readonly #ports: Ports
  readonly #channels = new Map<string, Channel>()
  /** Channels of routers that are being judged, and the ids that they name. */
  readonly #judged = new Map<Channel, string>()
  readonly #identities = new ConnectedIdentities()
  readonly #watch: RouterWatch
  readonly #records: ConnectionRecords
  readonly #others: OtherConnections
  #hasCircuits: () => boolean = () => false
  readonly #listeners = new Set<(routerId: string, reason: DisconnectReason) => void>()

  constructor(ports: Ports) {
    this.#ports = ports
    this.#watch = new RouterWatch(ports, {
      ids: () => new Set([...this.#channels.keys(), ...this.#judged.values()]),
      has: (id) => this.#channels.has(id) || [...this.#judged.values()].includes(id),
      judge: (id, router) => this.#judge(id, router),
    })
    const { processId, storage } = ports
    this.#records = new ConnectionRecords(processId, ports, {
      ids: () => this.#channels.keys(),
      connectionOf: (id) => this.#ownConnectionOf(id),
      hasCircuits: () => this.#hasCircuits(),
    })
    this.#others = new OtherConnections(processId, () => storage.read(async (tx) => placeOf(tx)))
    ports.timetable.onDue('identity-connection', async (ids) => this.#expire(ids))
  }

  async routerConnected(
    routerId: string,
    fingerprint: string,
    { alsoRead, takesPlace }: Judging = {},
  ): Promise<RouterAdmission> {
    const channel: Channel = { fingerprint, connection: SILENT }
    // Known before the store is asked, so that a change in between is noticed. The channel that the router has stays
    // until this one is admitted: a router with an older certificate cannot displace it.
    this.#judged.set(channel, routerId)
    try {
      const router = await this.#ports.storage.read(async (tx) => {
        await alsoRead?.(tx)
        return routerFacts(tx, routerId)
      })
      const admission = admitRouter(router, fingerprint)
      if (!admission.accepted) return admission
      if (!this.#judged.has(channel) || takesPlace?.() === false) return { accepted: false, reason: 'unverified' }
    } finally {
      this.#judged.delete(channel)
    }
    this.routerDisconnected(routerId)
    this.#channels.set(routerId, channel)
    this.#watch.begin()
    this.#records.changed(routerId)
    this.#tellRouter(routerId, true)
    return { accepted: true }
  }

  routerHello(routerId: string, { hostname, listeners, versionInfo }: RouterHello): void {
    const urls = listeners.map(({ protocol, advertise }) => [protocol, `${protocol}://${advertise}`])
    const known = versionInfo === undefined ? {} : { versionInfo }
    this.#learn(routerId, {
      hostname,
      supportedProtocols: Object.fromEntries(urls),
      syncStatus: 'SYNC_DONE',
      ...known,
    })
  }

  /** A connected router reports the interfaces of its host, where it accepts links, or the instant by its clock. */
  routerReport(
    routerId: string,
    report: Pick<RouterConnection, 'interfaces' | 'linkListeners' | 'clockAheadMs'>,
  ): void {
    this.#learn(routerId, report)
  }

  /** A connected router reports its software and the numbers of its capabilities. */
  routerSoftware(routerId: string, versionInfo: RouterVersion, capabilities: readonly number[]): void {
    this.#learn(routerId, { versionInfo, capabilities })
  }

  /** A connected router has another certificate from now on; its channel stays open with the earlier one. */
  routerCertified(routerId: string, fingerprint: string): void {
    const channel = this.#channels.get(routerId)
    if (channel !== undefined) channel.fingerprint = fingerprint
  }

  routerDisconnected(routerId: string): void {
    const channel = this.#channels.get(routerId)
    if (channel === undefined) return
    this.#channels.delete(routerId)
    this.#records.changed(routerId)
    const until = this.#ports.clock.now() + UNKNOWN_MS
    this.#tellRouter(routerId, false)
    for (const identityId of this.#identities.lose(routerId, until)) {
      this.#ports.timetable.set('identity-connection', identityId, until)
      this.#tellIdentity(identityId)
    }
  }

  identityConnections(routerId: string, report: IdentityConnections): void {
    if (!this.#channels.has(routerId)) return
    const concerned = report.identities.map(({ identityId }) => identityId)
    const before = new Map(concerned.map((identityId) => [identityId, this.statusOf(identityId)]))
    for (const identityId of this.#identities.report(routerId, report)) {
      // An identity that is missing from a full report was online until now.
      if (this.statusOf(identityId) !== (before.get(identityId) ?? 'online')) this.#tellIdentity(identityId)
    }
  }

  onDisconnect(listener: (routerId: string, reason: DisconnectReason) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** How many routers are connected to this process. */
  connectedRouters(): number {
    return this.#channels.size
  }

  connectionOf(routerId: string): RouterConnection | undefined {
    return this.#ownConnectionOf(routerId) ?? this.#ports.elsewhere?.connectionOf(routerId)
  }

  async at(tx: ReadTransaction): Promise<RouterPresence> {
    await this.#others.levelWith(tx)
    return this.lastKnown()
  }

  lastKnown(): RouterPresence {
    const now = this.#ports.clock.now()
    return { connectionOf: (id) => this.connectionOf(id) ?? this.#others.connectionOf(id, now) }
  }

  async hasOthers(tx: ReadTransaction): Promise<boolean> {
    await this.#others.levelWith(tx)
    return this.#others.areThere(this.#ports.clock.now())
  }

  /** Where routers reach the other processes over this store. */
  async others(tx: ReadTransaction): Promise<readonly string[]> {
    await this.#others.levelWith(tx)
    return this.#others.addresses(this.#ports.clock.now())
  }

  /** Routers reach this process at an address from now on. */
  open(address: string): Promise<void> {
    return this.#records.open(address)
  }

  /** Other processes know this one as long as it holds routers, or as long as a function says that it has circuits. */
  knownWhile(hasCircuits: () => boolean): void {
    this.#hasCircuits = hasCircuits
  }

  /** Writes to the store that this process is alive: a new revision, under which changes by time alone can be recorded. */
  renew(): Promise<void> {
    return this.#records.renew()
  }

  /** No router is connected to this process any more. */
  close(): Promise<void> {
    return this.#records.close()
  }

  /** Whether endpoints of an identity are connected to edge routers. */
  statusOf(identityId: string): IdentityConnectionStatus {
    return this.#identities.statusOf(identityId, this.#ports.clock.now())
  }

  /** The identities whose endpoints are connected to edge routers of this process. */
  onlineIdentities(): Iterable<string> {
    return this.#identities.online()
  }

  /** The identities whose endpoints a router of this process reported as connected. */
  identitiesAt(routerId: string): readonly string[] {
    return this.#identities.at(routerId)
  }

  /** Disconnects the routers that lost the right to be connected by a committed write of this process. */
  follow(changes: readonly RecordedChange[]): void {
    for (const { id, after } of [...changesTo(changes, edgeRouters), ...changesTo(changes, transitRouters)]) {
      this.#judge(id, after)
    }
  }

  #learn(routerId: string, facts: Partial<RouterConnection>): void {
    const channel = this.#channels.get(routerId)
    if (channel === undefined) return
    channel.connection = { ...channel.connection, ...facts }
    this.#records.changed(routerId)
  }

  #ownConnectionOf(routerId: string): RouterConnection | undefined {
    return this.#channels.get(routerId)?.connection
  }

  #judge(routerId: string, router: RouterFacts | undefined): void {
    for (const [channel, id] of this.#judged) {
      if (id === routerId && !admitRouter(router, channel.fingerprint).accepted) this.#judged.delete(channel)
    }
    const channel = this.#channels.get(routerId)
    if (channel === undefined) return
    const admission = admitRouter(router, channel.fingerprint)
    if (admission.accepted) return
    this.routerDisconnected(routerId)
    const reason = REASONS[admission.reason]
    const failed = (error: unknown) =>
      this.#ports.logger.error('a disconnect listener failed', { routerId, error: String(error) })
    for (const listener of this.#listeners) callIsolated(() => listener(routerId, reason), failed)
  }

  #expire(identityIds: readonly string[]): void {
    for (const identityId of identityIds) {
      if (this.#identities.expire(identityId, this.#ports.clock.now())) this.#tellIdentity(identityId)
    }
  }

  #tellRouter(routerId: string, isOnline: boolean): void {
    this.#ports.events.emit('router.connection', { routerId, isOnline, at: this.#ports.clock.now() })
  }

  #tellIdentity(identityId: string): void {
    const at = this.#ports.clock.now()
    this.#ports.events.emit('identity.connection', { identityId, status: this.statusOf(identityId), at })
  }
}
