import type { z } from 'zod'
import { invalidField } from '../base/errors.ts'
import { type Call, requireReading } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { allRouters } from '../fabric/data-plane-entities.ts'
import type { CircuitView } from '../facts/fabric/messages/index.ts'
import { type Link, UNKNOWN_LATENCY_MS } from '../facts/fabric/rules/index.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import {
  type Traffic,
  type TrafficFlow,
  TrafficRequest,
  type TrafficRouter,
} from '../facts/insight/traffic.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import { readRequest } from '../kernel/declaration/read-body.ts'
import { equals, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { type Carried, TrafficUsage } from './traffic-usage.ts'

/** The most of each that are answered: the offline and the most used first. */
const MOST_ROUTERS = 200
const MOST_LINKS = 500
const MOST_FLOWS = 100

/** Answers how routers, links and circuits are now. */
export class TrafficReading {
  readonly #context: EngineContext
  readonly #usage: TrafficUsage

  constructor(context: EngineContext) {
    this.#context = context
    this.#usage = new TrafficUsage(context)
  }

  /**
   * Routers, links and circuits as they are now, with the traffic between clients and hosts.
   *
   * @throws {ControllerError} UNAUTHORIZED for a caller that may not read circuits, routers, identities and services.
   */
  async read(call: Call, input: z.input<typeof TrafficRequest> = {}): Promise<Traffic> {
    const { limit, cursor, ...wanted } = readRequest(TrafficRequest, input)
    requireReading(call, ['ops', 'router', 'identity', 'service'])
    const { dataPlane, presence, storage } = this.#context
    const before = cursor === undefined ? undefined : readCursor(cursor)
    const hosted = await storage.read((tx) => terminatorsOf(tx, wanted.identity))
    const circuits = ((await dataPlane.view?.circuits({})) ?? []).filter((one) => isOf(one, wanted, hosted))
    const use = await this.#useOf(circuits)
    const page = newestBefore(circuits, before).slice(0, limit + 1)
    const shown = page.slice(0, limit)
    const last = shown.at(-1)
    const flows = [...use.flows.values()].sort((a, b) => b.count - a.count).slice(0, MOST_FLOWS)
    const known = dataPlane.view?.links() ?? []
    const latencies = new Map(known.map((link) => [link.id, latencyOf(link)]))
    const bytesPerSecond = circuits.reduce((sum, { id }) => sum + this.#usage.rateOf(id), 0)
    const open = new Set(circuits.map(({ id }) => id))
    // The path of a circuit that has ended is known no more, except for the router of its client.
    const isMeant = (one: Carried) => open.has(one.circuitId) || wasOf(one, wanted)
    const history = await this.#usage.historyOf(isMeant, this.#context.turns.begin())
    const links = known
      .filter(({ source, target }) => wanted.router === undefined || [source, target].includes(wanted.router))
      .toSorted((a, b) => (use.links.get(b.id)?.count ?? 0) - (use.links.get(a.id)?.count ?? 0))
    return storage.read(async (tx) => {
      const routers = (await allRouters(tx, presence)).map(
        ({ router, connection }): TrafficRouter => ({
          id: router.id,
          name: router.name,
          kind: 'roleAttributes' in router ? 'edge-routers' : 'transit-routers',
          isOnline: connection !== undefined,
          isEnrolled: router.isVerified,
          circuits: use.routers.get(router.id)?.count ?? 0,
          bytesPerSecond: use.routers.get(router.id)?.rate ?? 0,
        }),
      )
      const hosts = await hostsOf(tx, shown)
      const names = await namesOf(tx, [...shown, ...flows.map(({ of }) => of)], hosts)
      for (const { id, name } of routers) names.set(id, name)
      const named = (id: string) => ({ id, name: names.get(id) ?? null })
      return {
        isOpen: dataPlane.view !== undefined,
        counts: {
          routers: routers.length,
          routersOnline: routers.filter(({ isOnline }) => isOnline).length,
          links: links.length,
          circuits: circuits.length,
          bytesPerSecond,
          history,
        },
        routers: routers.sort(byNeed).slice(0, MOST_ROUTERS),
        links: links.slice(0, MOST_LINKS).map((link) => ({
          id: link.id,
          source: named(link.source),
          target: named(link.target),
          latencyMs: latencyOf(link),
          isDown: link.isDown,
          circuits: use.links.get(link.id)?.count ?? 0,
          bytesPerSecond: use.links.get(link.id)?.rate ?? 0,
        })),
        flows: flows.map(
          ({ of: { clientId, serviceId, path }, count, rate }): TrafficFlow => ({
            identity: named(clientId),
            service: named(serviceId),
            routers: endsOf(path.routers).map(named),
            circuits: count,
            bytesPerSecond: rate,
          }),
        ),
        circuits: shown.map(({ id, clientId, serviceId, terminatorId, path, createdAt }) => {
          const host = hosts.get(terminatorId) ?? ''
          const { bytes, rate, history } = this.#usage.of(id)
          return {
            id,
            identity: named(clientId),
            service: named(serviceId),
            host: names.has(host) ? named(host) : null,
            path: path.routers.map(named),
            openedAt: new Date(createdAt).toISOString(),
            ...{ bytes, bytesPerSecond: rate, history },
            latencyMs: sumOf(path.links.map((link) => latencies.get(link) ?? null)),
          }
        }),
        nextCursor: page.length > limit && last !== undefined ? writeCursor(last) : null,
      }
    })
  }

  /** How many circuits pass each router and each link, and how many are alike, with the bytes a second of all of them. */
  async #useOf(circuits: readonly CircuitView[]) {
    const [routers, links] = [new Map<string, Use>(), new Map<string, Use>()]
    const flows = new Map<string, Use & { readonly of: CircuitView }>()
    const turn = this.#context.turns.begin()
    for (const circuit of circuits) {
      await turn()
      const { clientId, serviceId, path } = circuit
      const rate = this.#usage.rateOf(circuit.id)
      for (const id of path.routers) routers.set(id, added(routers.get(id), rate))
      for (const id of path.links) links.set(id, added(links.get(id), rate))
      const key = [clientId, serviceId, ...endsOf(path.routers)].join(' ')
      flows.set(key, { of: circuit, ...added(flows.get(key), rate) })
    }
    return { routers, links, flows }
  }
}

/** Circuits that have something in common. */
interface Use {
  readonly count: number
  readonly rate: number
}

function added(known: Use | undefined, rate: number): Use {
  return { count: (known?.count ?? 0) + 1, rate: (known?.rate ?? 0) + rate }
}

/** The sum of latencies; null where one is unknown. */
function sumOf(latencies: readonly (number | null)[]): number | null {
  return latencies.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0)
}

type Wanted = Pick<z.output<typeof TrafficRequest>, 'identity' | 'service' | 'router'>

/** The terminators of an identity; empty without one. */
async function terminatorsOf(tx: ReadTransaction, identity: string | undefined): Promise<ReadonlySet<string>> {
  if (identity === undefined) return new Set()
  return new Set(await tx.collection(terminators).findIds({ where: equals('hostId', identity) }))
}

function isOf(
  { clientId, serviceId, terminatorId, path }: CircuitView,
  { identity, service, router }: Wanted,
  hosted: ReadonlySet<string>,
): boolean {
  return (
    (identity === undefined || clientId === identity || hosted.has(terminatorId)) &&
    (service === undefined || serviceId === service) &&
    (router === undefined || path.routers.includes(router))
  )
}

function wasOf({ identityId, hostId, serviceId, routerId }: Carried, { identity, service, router }: Wanted): boolean {
  return (
    (identity === undefined || identity === identityId || identity === hostId) &&
    (service === undefined || service === serviceId) &&
    (router === undefined || router === routerId)
  )
}

function byNeed(one: TrafficRouter, other: TrafficRouter): number {
  return (
    Number(one.isOnline) - Number(other.isOnline) || other.circuits - one.circuits || (one.name < other.name ? -1 : 1)
  )
}

/** The first router of a path and the last one; one where they are the same. */
function endsOf(routers: readonly string[]): readonly string[] {
  return [...new Set([...routers.slice(0, 1), ...routers.slice(-1)])]
}

function latencyOf({ sourceLatencyMs, targetLatencyMs }: Link): number | null {
  const known = [sourceLatencyMs, targetLatencyMs].filter((latency) => latency < UNKNOWN_LATENCY_MS)
  return known.length === 0 ? null : Math.max(...known)
}

/** The hosts at the terminators of circuits, by terminator; empty texts are left out. */
async function hostsOf(tx: ReadTransaction, circuits: readonly CircuitView[]): Promise<ReadonlyMap<string, string>> {
  const where = ids(new Set(circuits.map(({ terminatorId }) => terminatorId)))
  const { items } = await tx.collection(terminators).find({ where })
  return new Map(items.flatMap(({ id, hostId }) => (hostId === '' ? [] : [[id, hostId]])))
}

/** The names of the identities and services of circuits, and of their hosts. */
async function namesOf(
  tx: ReadTransaction,
  circuits: readonly CircuitView[],
  hosts: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const people = ids(new Set([...circuits.map(({ clientId }) => clientId), ...hosts.values()]))
  const served = ids(new Set(circuits.map(({ serviceId }) => serviceId)))
  const identified = await tx.collection(identities).find({ where: people })
  const found = await tx.collection(services).find({ where: served })
  return new Map([...identified.items, ...found.items].map(({ id, name }) => [id, name]))
}

/** The place of a circuit in the order of their beginnings. */
interface Place {
  readonly createdAt: number
  readonly id: string
}

function isEarlier(one: Place, other: Place): boolean {
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt
}

function newestBefore(circuits: readonly CircuitView[], place: Place | undefined): readonly CircuitView[] {
  const wanted = place === undefined ? circuits : circuits.filter((circuit) => isEarlier(circuit, place))
  return wanted.toSorted((a, b) => (isEarlier(a, b) ? 1 : -1))
}

function writeCursor({ createdAt, id }: Place): string {
  return `${createdAt} ${id}`
}

function readCursor(text: string): Place {
  const [, at, id] = /^(\d{1,15}) (.+)$/.exec(text) ?? []
  if (at === undefined || id === undefined) throw invalidField('cursor', 'is no nextCursor of circuits', text)
  return { createdAt: Number(at), id }
}
