import { instant } from '../../base/time.ts'
import type { EngineContext } from '../../context/context.ts'
import type { InspectedValue } from '../../facts/fabric/messages/index.ts'
import { dynamicCost } from '../../facts/fabric/rules/index.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../../facts/routers/transit-router.resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import type { Presence } from '../../routers/presence.ts'
import type { ConnectedRouters } from '../channels/connected-routers.ts'
import type { OpenCircuits } from '../circuits/open-circuits.ts'
import type { ModelSubscriptions } from '../model/model-subscriptions.ts'

/** The parts of the data plane whose state the controller tells. */
export interface ControllerState {
  /** By which routers know this controller. */
  readonly id: string
  /** Where routers reach it. */
  readonly addresses: readonly string[]
  readonly context: EngineContext
  readonly routers: ConnectedRouters
  readonly circuits: OpenCircuits
  readonly presence: Pick<Presence, 'identitiesAt' | 'statusOf'>
  readonly model: ModelSubscriptions
  /** Describes the present work of the process as text. */
  readonly processReport: () => string
}

type Value = () => unknown

/** The state of this controller as inspections show it, by the names that operators ask for. */
export class ControllerValues {
  readonly #state: ControllerState
  readonly #values: ReadonlyMap<string, Value>

  constructor(state: ControllerState) {
    this.#state = state
    this.#values = new Map<string, Value>([
      ['stackdump', () => state.processReport()],
      ['config', () => this.#config()],
      ['connected-routers', () => this.#connectedRouters()],
      ['terminator-costs', () => this.#terminatorCosts()],
      ['data-model-index', () => this.#modelIndex()],
      ['router-data-model-index', () => this.#modelIndex()],
      ['identity-connection-statuses', () => this.#identityConnections()],
    ])
  }

  get id(): string {
    return this.#state.id
  }

  /** The values of those names that the controller knows; others it leaves out. */
  async valuesOf(
    names: readonly string[],
  ): Promise<{ readonly errors: readonly string[]; readonly values: readonly InspectedValue[] }> {
    const errors: string[] = []
    const values: InspectedValue[] = []
    for (const name of names) {
      const read = this.#values.get(name.toLowerCase())
      if (read === undefined) continue
      try {
        const value = await read()
        values.push({ name, value: typeof value === 'string' ? value : JSON.stringify(value) })
      } catch {
        errors.push(`${name} could not be read`)
      }
    }
    return { errors, values }
  }

  #config() {
    const { id, addresses, context } = this.#state
    const { address, apiSessionTimeoutMs, hasOpenId, enrollmentDurationMs, routerEnrollmentDurationMs } =
      context.settings
    return {
      id,
      ctrl: { addresses },
      edge: { api: { address, sessionTimeout: `${apiSessionTimeoutMs}ms`, oidc: hasOpenId } },
      enrollment: {
        edgeIdentity: { duration: `${enrollmentDurationMs}ms` },
        edgeRouter: { duration: `${routerEnrollmentDurationMs}ms` },
      },
      limits: context.settings.limits,
    }
  }

  async #connectedRouters() {
    const { context, routers } = this.#state
    const connected = routers.allHeld()
    const where = ids(connected.map(({ id }) => id))
    const names = await context.storage.read(async (tx) => {
      const edge = await tx.collection(edgeRouters).find({ where })
      const transit = await tx.collection(transitRouters).find({ where })
      return new Map([...edge.items, ...transit.items].map(({ id, name }) => [id, name]))
    })
    return connected.map(({ id, software, connectedAt, channel }) => ({
      id,
      name: names.get(id) ?? '',
      version: software.version,
      connectTime: instant(connectedAt),
      underlays: Object.fromEntries(channel.sockets ?? []),
    }))
  }

  #terminatorCosts() {
    const { circuits, context } = this.#state
    const now = context.clock.now()
    const terminators = [...circuits.uses()].map(([terminatorId, use]) => ({
      terminatorId,
      circuitCount: use.openCircuits,
      failureCost: dynamicCost({ ...use, openCircuits: 0 }, now),
      currentCost: dynamicCost(use, now),
    }))
    return { terminators }
  }

  /** The identities whose endpoints routers reported as connected, by their ids. */
  #identityConnections() {
    const { routers, presence } = this.#state
    const connections: Record<string, { connected_routers: Record<string, object>; last_reported_state: string }> = {}
    for (const { id: routerId } of routers.allHeld()) {
      for (const identityId of presence.identitiesAt(routerId)) {
        connections[identityId] ??= { connected_routers: {}, last_reported_state: presence.statusOf(identityId) }
        connections[identityId].connected_routers[routerId] = { router_id: routerId, closed: false }
      }
    }
    return { connections }
  }

  async #modelIndex() {
    const { context, model } = this.#state
    const index = await context.storage.read(async ({ revision }) => revision)
    return { timeline: model.timelineId, index }
  }
}
