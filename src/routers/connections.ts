import { StoreLevel } from '../context/store-level.ts'
import { capabilityNames } from '../facts/routers/capabilities.rules.ts'
import { controllerProcesses, routerConnections } from '../facts/routers/router-connection.resource.ts'
import type { Change, HistoryPoint, ReadTransaction } from '../ports/record-storage.ts'
import type {
  IdentityConnectionStatus,
  IdentityConnections,
  RouterConnection,
  RouterPresence,
} from '../ports/router-presence.ts'

/** The connection of a router to the data plane; offline routers have no addresses. */
export function presenceMembers(presence: RouterPresence, id: string) {
  const connection = presence.connectionOf(id)
  const { capabilities, versionInfo } = connection ?? {}
  return {
    ...(capabilities && { capabilities: capabilityNames(capabilities) }),
    ...(versionInfo && { version: versionInfo.version }),
    hostname: connection?.hostname ?? '',
    isOnline: connection !== undefined,
    supportedProtocols: connection?.supportedProtocols ?? {},
    syncStatus: connection === undefined ? 'SYNC_UNKNOWN' : (connection.syncStatus ?? 'SYNC_DONE'),
  }
}

/** The interfaces of a router's host as it reported them, with the flags of the system by their names; null without any. */
export function interfacesOf(presence: RouterPresence, id: string) {
  const reported = presence.connectionOf(id)?.interfaces
  if (reported === undefined) return null
  return reported.map(({ flags, ...known }) => ({
    ...known,
    isUp: hasFlag(flags, 0),
    isBroadcast: hasFlag(flags, 1),
    isLoopback: hasFlag(flags, 2),
    isMulticast: hasFlag(flags, 4),
    isRunning: hasFlag(flags, 5),
  }))
}

/** In the order in which the network library of routers numbers them. */
function hasFlag(flags: number, bit: number): boolean {
  return Math.floor(flags / 2 ** bit) % 2 === 1
}

/** Milliseconds for which an identity counts as unknown after the router that knew it went away. */
export const UNKNOWN_MS = 5 * 60_000

/** How many identities are kept for one router, whatever it reports. */
const MOST_OF_A_ROUTER = 100_000

/** The identities that are connected to each router, as the routers report them. */
export class ConnectedIdentities {
  readonly #routersOf = new Map<string, Set<string>>()
  readonly #identitiesOf = new Map<string, Set<string>>()
  /** Until when (epoch ms) an identity is unknown. */
  readonly #unknownUntil = new Map<string, number>()

  /** The status of an identity at `now` (epoch ms). */
  statusOf(identityId: string, now: number): IdentityConnectionStatus {
    if (this.#routersOf.has(identityId)) return 'online'
    return now < (this.#unknownUntil.get(identityId) ?? 0) ? 'unknown' : 'offline'
  }

  /** The identities that are connected to any router. */
  online(): Iterable<string> {
    return this.#routersOf.keys()
  }

  /** The identities that are connected to a router. */
  at(routerId: string): readonly string[] {
    return [...(this.#identitiesOf.get(routerId) ?? [])]
  }

  /** Takes a router's report; answers the identities that it names or no longer names. */
  report(routerId: string, { full, identities }: IdentityConnections): readonly string[] {
    const named = new Set(identities.map(({ identityId }) => identityId))
    const missing = full ? this.at(routerId).filter((identityId) => !named.has(identityId)) : []
    for (const identityId of missing) this.#part(routerId, identityId)
    for (const { identityId, connected } of identities) {
      // A router knows the identity again.
      this.#unknownUntil.delete(identityId)
      if (connected) this.#join(routerId, identityId)
      else this.#part(routerId, identityId)
    }
    return [...missing, ...named]
  }

  /** Forgets a router that is gone; answers the identities that it alone knew, which are unknown until `until` (epoch ms). */
  lose(routerId: string, until: number): readonly string[] {
    const known = [...(this.#identitiesOf.get(routerId) ?? [])]
    for (const identityId of known) this.#part(routerId, identityId)
    const unknown = known.filter((identityId) => !this.#routersOf.has(identityId))
    for (const identityId of unknown) this.#unknownUntil.set(identityId, until)
    return unknown
  }

  /** Forgets an identity that is unknown for too long at `now` (epoch ms); answers whether it is offline now by that. */
  expire(identityId: string, now: number): boolean {
    const until = this.#unknownUntil.get(identityId)
    if (until === undefined || now < until) return false
    return this.#unknownUntil.delete(identityId)
  }

  #join(routerId: string, identityId: string): void {
    if ((this.#identitiesOf.get(routerId)?.size ?? 0) >= MOST_OF_A_ROUTER) return
    entry(this.#routersOf, identityId).add(routerId)
    entry(this.#identitiesOf, routerId).add(identityId)
  }

  #part(routerId: string, identityId: string): void {
    remove(this.#routersOf, identityId, routerId)
    remove(this.#identitiesOf, routerId, identityId)
  }
}

function entry(sets: Map<string, Set<string>>, key: string): Set<string> {
  const known = sets.get(key) ?? new Set()
  sets.set(key, known)
  return known
}

function remove(sets: Map<string, Set<string>>, key: string, member: string): void {
  const known = sets.get(key)
  known?.delete(member)
  if (known?.size === 0) sets.delete(key)
}

type Connections = Map<string, RouterConnection>

/** The routers that are connected to other processes over the same store, as those keep it there. */
export class OtherConnections {
  readonly #processId: string
  readonly #level: StoreLevel
  /** Router to the processes that hold it. */
  readonly #connections = new Map<string, Connections>()
  /** The router and the process of each record: a deleted record cannot be asked. */
  readonly #recorded = new Map<string, { readonly routerId: string; readonly processId: string }>()
  /** The processes: until when (epoch ms) each is believed, and where routers reach it. */
  readonly #processes = new Map<string, { readonly aliveUntil: number; readonly address: string | null }>()

  /** `processId` is this process, whose own connections are not kept here; `latest` asks the store where it is in a snapshot of its own. */
  constructor(processId: string, latest: () => Promise<HistoryPoint>) {
    this.#processId = processId
    this.#level = new StoreLevel((tx, changes) => this.#catchUp(tx, changes), latest)
  }

  /** Follows the store up to the snapshot, or a later one. */
  levelWith(tx: ReadTransaction): Promise<void> {
    return this.#level.reach(tx)
  }

  /** The connection of a router to a process that is alive at `now` (epoch ms). */
  connectionOf(routerId: string, now: number): RouterConnection | undefined {
    for (const [processId, connection] of this.#connections.get(routerId) ?? []) {
      if (now < (this.#processes.get(processId)?.aliveUntil ?? 0)) return connection
    }
    return undefined
  }

  /** Whether another process is alive at `now` (epoch ms). */
  areThere(now: number): boolean {
    return this.#alive(now).length > 0
  }

  /** Where routers reach the other processes that are alive at `now` (epoch ms). */
  addresses(now: number): readonly string[] {
    return this.#alive(now).flatMap(({ address }) => address ?? [])
  }

  #alive(now: number) {
    const others = [...this.#processes].filter(([id]) => id !== this.#processId).map(([, process]) => process)
    return others.filter(({ aliveUntil }) => now < aliveUntil)
  }

  async #catchUp(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    if (changes === undefined) await this.#readAll(tx)
    const touched = new Map(changes?.map(({ kind, id }) => [`${kind} ${id}`, { kind, id }]))
    for (const { kind, id } of touched.values()) {
      if (kind === routerConnections.name) this.#put(id, await tx.collection(routerConnections).get(id))
      if (kind === controllerProcesses.name) this.#believe(id, await tx.collection(controllerProcesses).get(id))
    }
  }

  async #readAll(tx: ReadTransaction): Promise<void> {
    this.#connections.clear()
    this.#recorded.clear()
    this.#processes.clear()
    for (const process of (await tx.collection(controllerProcesses).find()).items) this.#believe(process.id, process)
    for (const record of (await tx.collection(routerConnections).find()).items) this.#put(record.id, record)
  }

  #believe(
    processId: string,
    process: { readonly aliveUntil: number; readonly address: string | null } | undefined,
  ): void {
    if (process === undefined) this.#processes.delete(processId)
    else this.#processes.set(processId, process)
  }

  #put(
    id: string,
    record:
      | { readonly routerId: string; readonly processId: string; readonly connection: RouterConnection }
      | undefined,
  ): void {
    const known = this.#recorded.get(id)
    if (known !== undefined) {
      this.#recorded.delete(id)
      this.#connections.get(known.routerId)?.delete(known.processId)
      if (this.#connections.get(known.routerId)?.size === 0) this.#connections.delete(known.routerId)
    }
    if (record === undefined || record.processId === this.#processId) return
    const { routerId, processId, connection } = record
    const connections = this.#connections.get(routerId) ?? new Map<string, RouterConnection>()
    this.#connections.set(routerId, connections.set(processId, connection))
    this.#recorded.set(id, { routerId, processId })
  }
}
