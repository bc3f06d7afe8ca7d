import { z } from 'zod'
import type { EngineContext } from '../../context/context.ts'
import {
  compareCircuits,
  compareHosted,
  compareIdentities,
  compareLinks,
  type Validated,
} from '../../facts/fabric/rules/index.ts'
import { terminators } from '../../facts/services/terminator.resource.ts'
import { equals } from '../../kernel/filter/index.ts'
import type { Presence } from '../../routers/presence.ts'
import type { ConnectedRouters } from '../channels/connected-routers.ts'
import type { Network } from '../channels/network.ts'
import type { OpenCircuits } from '../circuits/open-circuits.ts'

type Compared = 'circuits' | 'links' | 'sdk-terminators' | 'ert-terminators' | 'identity-connections'

const NAMES: Readonly<Record<Compared, readonly string[]>> = {
  circuits: ['router-circuits', 'router-edge-circuits', 'router-sdk-circuits'],
  links: ['links'],
  'sdk-terminators': ['sdk-terminators'],
  'ert-terminators': ['ert-terminators'],
  'identity-connections': ['identity-connection-statuses'],
}

const Text = z.string().catch('')
const List = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? [])
const Named = <T extends z.ZodType>(item: T) =>
  z
    .record(z.string(), item)
    .nullish()
    .transform((items) => items ?? {})
const Circuits = z.object({
  circuits: Named(z.object({ ctrlId: Text, destinations: z.record(z.string(), z.string()).nullish() })),
})
const EndCircuits = z.object({ circuits: Named(z.object({ circuitId: Text, ctrlId: Text })) })
const Links = z.object({ links: List(z.object({ id: z.string(), dest: Text, dialed: z.boolean().catch(false) })) })
const Hosted = z.object({
  entries: List(
    z.object({
      id: z.string(),
      state: Text,
      operationActive: z.boolean().catch(false),
      createTime: Text,
      lastAttempt: Text,
    }),
  ),
})
const Identities = z.object({
  identity_connections: Named(
    z.object({
      connections: List(z.object({ closed: z.boolean().catch(false) })),
      unreported_count: z.number().catch(0),
      being_reported_count: z.number().catch(0),
    }),
  ),
})

/** The state of this controller that routers are compared with. */
interface ComparedState {
  readonly controllerId: string
  readonly context: EngineContext
  readonly presence: Pick<Presence, 'identitiesAt'>
  readonly routers: ConnectedRouters
  readonly network: Network
  readonly circuits: OpenCircuits
  /** Whether another process laid a circuit over routers of this one. */
  readonly isOfOther: (circuitId: string) => boolean
}

/** Compares the state that a router reports with that of this controller. */
export class RouterComparisons {
  readonly #state: ComparedState

  constructor(state: ComparedState) {
    this.#state = state
  }

  /** The names of the values that a router is asked for. */
  namesFor(what: Compared): readonly string[] {
    return NAMES[what]
  }

  /** The result for one router, by the values that it reported; `problem` is the reason for absent values. */
  async compare(
    what: Compared,
    { id: routerId, name: routerName }: { readonly id: string; readonly name: string },
    values: ReadonlyMap<string, string>,
    problem: string | undefined,
  ): Promise<Validated> {
    try {
      return await this.#compared(what, { routerId, routerName, problem }, values)
    } catch (error) {
      if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error
      const failed = { routerId, routerName, problem: 'the answer of the router could not be read' }
      return this.#compared(what, failed, new Map())
    }
  }

  async #compared(
    what: Compared,
    about: { readonly routerId: string; readonly routerName: string; readonly problem: string | undefined },
    values: ReadonlyMap<string, string>,
  ): Promise<Validated> {
    const { routerId, routerName, problem } = about
    const { controllerId, circuits, network, routers, presence, isOfOther } = this.#state
    // A router of another process knows circuits of this process by the id of that process.
    const isOwn = (circuitId: string, ctrlId: string) =>
      circuits.get(circuitId) !== undefined || (ctrlId === controllerId && !isOfOther(circuitId))
    switch (what) {
      case 'circuits': {
        if (problem !== undefined) return { what, ...about, circuits: new Map() }
        const forwarded = Object.entries(read(Circuits, values.get('router-circuits')).circuits)
        const own = forwarded.filter(([id, { ctrlId }]) => isOwn(id, ctrlId))
        const ends = (name: string) =>
          Object.values(read(EndCircuits, values.get(name)).circuits)
            .filter(({ circuitId, ctrlId }) => isOwn(circuitId, ctrlId))
            .map(({ circuitId }) => circuitId)
        const known = circuits.all().filter(({ course }) => course.path.routers.includes(routerId))
        const compared = compareCircuits(
          known.map(({ id }) => id),
          new Map(own.map(([id, { destinations }]) => [id, new Map(Object.entries(destinations ?? {}))])),
          ends('router-edge-circuits'),
          ends('router-sdk-circuits'),
        )
        return { what, ...about, circuits: compared }
      }
      case 'links': {
        if (problem !== undefined) return { what, ...about, links: [] }
        const isConnected = (id: string) => routers.get(id) !== undefined
        return {
          what,
          ...about,
          links: compareLinks(routerId, network.all(), read(Links, values.get('links')).links, isConnected),
        }
      }
      case 'sdk-terminators':
      case 'ert-terminators': {
        if (problem !== undefined) return { what, ...about, terminators: [] }
        const stored = await this.#storedAt(routerId, what === 'sdk-terminators' ? 'edge' : 'tunnel')
        return { what, ...about, terminators: compareHosted(stored, read(Hosted, values.get(what)).entries) }
      }
      case 'identity-connections': {
        const facts = { componentType: 'router', componentId: routerId, componentName: routerName } as const
        // A router that is not connected has no endpoints either.
        const isAway = routers.get(routerId) === undefined
        if (problem !== undefined && !isAway) return { what, ...facts, success: false, errors: [problem] }
        const reported = read(Identities, values.get('identity-connection-statuses')).identity_connections
        const told = Object.entries(reported).map(([id, { connections, unreported_count, being_reported_count }]) => ({
          id,
          isConnected: connections.some(({ closed }) => !closed),
          isBehind: unreported_count + being_reported_count > 0,
        }))
        return { what, ...facts, success: true, errors: compareIdentities(presence.identitiesAt(routerId), told) }
      }
    }
  }

  async #storedAt(routerId: string, binding: string): Promise<readonly string[]> {
    const { items } = await this.#state.context.storage.read((tx) =>
      tx.collection(terminators).find({ where: equals('routerId', routerId) }),
    )
    return items.filter((terminator) => terminator.binding === binding).map(({ id }) => id)
  }
}

/** The value that a router reported, as far as it is needed; empty if it reported no value. */
function read<T extends z.ZodType>(schema: T, text = '{}'): z.output<T> {
  return schema.parse(JSON.parse(text) ?? {})
}
