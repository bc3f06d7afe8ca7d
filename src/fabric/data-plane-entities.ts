import { z } from 'zod'
import { ControllerError, notFound } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { DataPlanePresence, EngineContext, ModelComparison } from '../context/context.ts'
import { InspectionBody } from '../facts/fabric/inspection.resource.ts'
import { LinkPatch } from '../facts/fabric/links.resource.ts'
import type { CircuitView, OpenOperatorSession } from '../facts/fabric/messages/index.ts'
import type { InspectionResult, Link } from '../facts/fabric/rules/index.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { controllerProcesses } from '../facts/routers/router-connection.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import { readId, readRequest, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { ids, type SymbolTable } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { RouterConnection, RouterPresence } from '../ports/router-presence.ts'
import { controllerIdOf } from './controller-id.ts'

/** A router of either kind with its connection. */
export interface RouterView {
  readonly router: RecordOf<typeof edgeRouters> | RecordOf<typeof transitRouters>
  /** Undefined while it is not connected. */
  readonly connection: RouterConnection | undefined
}

/** The members of routers that filters may name. */
export const ROUTER_SYMBOLS: SymbolTable = {
  id: { field: 'id', kind: 'string' },
  name: { field: 'name', kind: 'string' },
  createdAt: { field: 'createdAt', kind: 'instant' },
  updatedAt: { field: 'updatedAt', kind: 'instant' },
  tags: { field: 'tags', kind: 'json' },
  connected: { field: 'connected', kind: 'boolean' },
  cost: { field: 'cost', kind: 'number' },
  noTraversal: { field: 'noTraversal', kind: 'boolean' },
  disabled: { field: 'disabled', kind: 'boolean' },
  fingerprint: { field: 'fingerprint', kind: 'string' },
}

/** The data plane as this process knows it: only routers while it is not open. */
export class DataPlaneService {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The links between connected routers. */
  links(): readonly Link[] {
    return this.#context.dataPlane.view?.links() ?? []
  }

  /**
   * A link between connected routers.
   *
   * @throws {ControllerError} NOT_FOUND when this process knows none of the id.
   */
  async link(id: string): Promise<Link> {
    readId(id)
    return this.links().find((known) => known.id === id) ?? this.#unknown('link', id)
  }

  /**
   * Changes the cost of a link, or takes it out of use.
   *
   * @throws {ControllerError} NOT_FOUND when this process knows none of the id.
   */
  async changeLink(id: string, input: z.input<typeof LinkPatch>): Promise<void> {
    readId(id)
    const { staticCost, down: isDown } = readRequest(LinkPatch, input)
    if (this.#context.dataPlane.view?.changeLink(id, { staticCost, isDown }) !== true) await this.#unknown('link', id)
  }

  /**
   * Both routers close a link, and circuits take another path; the link may be dialed again. An unknown link is over already.
   *
   * @throws {ControllerError} NOT_FOUND when this process knows none of the id, and others hold routers whose links it may be.
   */
  async cutLink(id: string): Promise<void> {
    readId(id)
    const isKnown = this.#context.dataPlane.view?.cutLink(id) === true
    if (!isKnown && (await this.#mayBeElsewhere())) throw elsewhere('link', id)
  }

  /** The open circuits of every process over the store. The circuits of a process that does not answer within 2 s are missing. */
  async circuits(): Promise<readonly CircuitView[]> {
    return (await this.#context.dataPlane.view?.circuits({})) ?? []
  }

  /**
   * An open circuit of any process.
   *
   * @throws {ControllerError} NOT_FOUND when no process that answers within 2 s knows one of the id.
   */
  async circuit(id: string): Promise<CircuitView> {
    readId(id)
    const [circuit] = (await this.#context.dataPlane.view?.circuits({ circuitId: id })) ?? []
    if (circuit === undefined) throw notFound('circuit', id)
    return circuit
  }

  /** The routers that the newest circuit of a service session passes, in order; none without one. */
  async pathOf(sessionId: string): Promise<readonly string[]> {
    readId(sessionId, 'sessionId')
    const circuits = await this.#context.dataPlane.view?.circuits({ sessionId })
    return circuits?.at(-1)?.path.routers ?? []
  }

  /**
   * Ends a circuit of any process, at once or once it is quiet.
   *
   * @throws {ControllerError} NOT_FOUND when no process that answers within 2 s knows one of the id.
   */
  async endCircuit(id: string, immediate: boolean): Promise<void> {
    readId(id)
    readValue('immediate', z.boolean(), immediate)
    if ((await this.#context.dataPlane.view?.endCircuit(id, immediate)) !== true) throw notFound('circuit', id)
  }

  /** The hosts by the ids of their terminators: an identity, a router for itself, or an empty text without a host. */
  async hostsOf(terminatorIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const where = ids(terminatorIds)
    const { items } = await this.#context.storage.read((tx) => tx.collection(terminators).find({ where }))
    return new Map(items.map(({ id, hostId }) => [id, hostId]))
  }

  /** Edge routers and transit routers. */
  async routers(): Promise<readonly RouterView[]> {
    return this.#context.storage.read((tx) => allRouters(tx, this.#context.presence))
  }

  /**
   * A router of either kind.
   *
   * @throws {ControllerError} NOT_FOUND when this process knows none of the id.
   */
  async router(id: string): Promise<RouterView> {
    readId(id)
    return this.#context.storage.read(async (tx) => {
      const router = (await tx.collection(edgeRouters).get(id)) ?? (await tx.collection(transitRouters).get(id))
      if (router === undefined) throw notFound('router', id)
      return viewOf(router, await this.#context.presence.at(tx))
    })
  }

  /**
   * Asks a router to compare its data model with the model as read anew from the store; takes a minute at most. A change on its way to the
   * router shows as a difference.
   *
   * @throws {ControllerError} NOT_FOUND when there is no such router, or it does not follow the model of this process.
   * @throws {ControllerError} ENTITY_CAN_NOT_BE_UPDATED when the router would end by it.
   * @throws {ControllerError} TIMEOUT when it does not answer.
   */
  async validateModel(id: string): Promise<ModelComparison> {
    await this.router(id)
    const { view } = this.#context.dataPlane
    return view === undefined ? this.#unknown('router', id) : view.validateModel(id)
  }

  /**
   * Asks the routers that are connected to this process, and the controller itself, for values of their state; at most 10 s. The errors of
   * the result name each router that could not answer. The result is empty while the data plane is not open.
   */
  async inspect(input: z.input<typeof InspectionBody>): Promise<InspectionResult> {
    const request = readRequest(InspectionBody, input)
    return (await this.#context.dataPlane.view?.inspect(request)) ?? { errors: [], values: [] }
  }

  /**
   * Begins a session of an operator's program, with the rights of a call: it is closed when they end.
   *
   * @throws {ControllerError} NOT_FOUND while the data plane is not open.
   */
  operatorSessions(call: Call): OpenOperatorSession {
    const { view } = this.#context.dataPlane
    if (view === undefined) throw notFound('data plane', 'of this process')
    return (channel) => view.openOperatorSession(call, channel)
  }

  /** The processes over this store that serve routers, this one first: the id by which routers know each, and its address for routers. */
  async members(): Promise<readonly { readonly id: string; readonly address: string }[]> {
    const { storage, clock, dataPlane, digest } = this.#context
    const { items } = await storage.read((tx) => tx.collection(controllerProcesses).find())
    const alive = items.filter(({ aliveUntil }) => clock.now() < aliveUntil)
    const addresses = new Set([dataPlane.controlAddresses[0], ...alive.map(({ address }) => address)])
    return [...addresses].flatMap((address) => (address ? [{ id: controllerIdOf(digest, [address]), address }] : []))
  }

  /** The names of routers and services by their ids. */
  async names(routerIds: Iterable<string>, serviceIds: Iterable<string>): Promise<ReadonlyMap<string, string>> {
    return this.#context.storage.read(async (tx) => {
      const where = ids(new Set(routerIds))
      const edge = await tx.collection(edgeRouters).find({ where })
      const transit = await tx.collection(transitRouters).find({ where })
      const named = await tx.collection(services).find({ where: ids(new Set(serviceIds)) })
      return new Map([...edge.items, ...transit.items, ...named.items].map(({ id, name }) => [id, name]))
    })
  }

  /** Rejects with `NOT_FOUND`, and says if another process may know the link or router. */
  async #unknown(kind: 'link' | 'router', id: string): Promise<never> {
    throw (await this.#mayBeElsewhere()) ? elsewhere(kind, id) : notFound(kind, id)
  }

  #mayBeElsewhere(): Promise<boolean> {
    const { storage, presence } = this.#context
    return storage.read((tx) => presence.hasOthers(tx))
  }
}

function elsewhere(kind: 'link' | 'router', id: string): ControllerError {
  const message = `${kind} with id ${id} not found in this process: other controllers know those of their own routers`
  return new ControllerError('NOT_FOUND', { code: 'UNHANDLED', message })
}

/** Edge routers and transit routers as of a snapshot. */
export async function allRouters(
  tx: ReadTransaction,
  presence: Pick<DataPlanePresence, 'at'>,
): Promise<readonly RouterView[]> {
  const edge = await tx.collection(edgeRouters).find()
  const transit = await tx.collection(transitRouters).find()
  const connected = await presence.at(tx)
  return [...edge.items, ...transit.items].map((router) => viewOf(router, connected))
}

/** A router as filters see it. */
export function filteredRouter(view: RouterView) {
  return { ...view.router, connected: view.connection !== undefined, view }
}

function viewOf(router: RouterView['router'], presence: RouterPresence): RouterView {
  return { router, connection: presence.connectionOf(router.id) }
}
