import { LARGEST_PAGE } from '../../../src/base/limits.ts'
import type { ImportedEntity } from '../../../src/index.ts'
import { type AdminOptions, Connection } from './model-connection.ts'

/** All entities of a controller that can be taken over, and notes on the parts that cannot be read. */
export interface SourceNetwork {
  readonly entities: readonly ImportedEntity[]
  /** Parts that stay behind, one line each. */
  readonly notes: readonly string[]
}

type Shown = Readonly<Record<string, unknown>>

/** The resources of the management API whose entities are taken over as they are shown. */
const RESOURCES = [
  'auth-policies',
  'external-jwt-signers',
  'cas',
  'config-types',
  'configs',
  'posture-checks',
  'services',
  'edge-routers',
  'transit-routers',
  'identities',
  'service-policies',
  'edge-router-policies',
  'service-edge-router-policies',
  'terminators',
  'authenticators',
  'enrollments',
] as const

/** Endpoints and tunnelers make these when they connect; a terminator of an operator has no host. */
const PASSING_BINDINGS: readonly unknown[] = ['edge', 'tunnel']

/**
 * Reads the network of a controller with the same management API, to be imported into another: with ids, tags, states and
 * certificates. No controller shows verifiers of passwords or secrets of authenticator apps.
 *
 * @example
 * const { entities, notes } = await readSource({ baseUrl: 'https://old.example.org:1280', fetch, token })
 * await operator.importEntities(entities)
 */
export async function readSource(
  options: AdminOptions,
  onProgress: (resource: string, count: number) => void = () => undefined,
): Promise<SourceNetwork> {
  const connection = new Connection(options)
  const shown = new Map<string, readonly Shown[]>()
  for (const resource of RESOURCES) {
    const found = await listAll(connection, resource)
    shown.set(resource, found)
    onProgress(resource, found.length)
  }
  // Some controllers list every router as a transit router.
  const edgeRouterIds = new Set((shown.get('edge-routers') ?? []).map(({ id }) => id))
  const transits = (shown.get('transit-routers') ?? []).filter(({ id }) => !edgeRouterIds.has(id))
  shown.set('transit-routers', transits)
  const passing = (shown.get('terminators') ?? []).filter(
    ({ binding, hostId }) => PASSING_BINDINGS.includes(binding) || Boolean(hostId),
  )
  const kept = (shown.get('terminators') ?? []).filter((terminator) => !passing.includes(terminator))
  shown.set('terminators', kept)
  const pairs = await serviceConfigs(connection, shown)
  const entities = [...shown].flatMap(([resource, found]) => found.map((entity) => ({ resource, entity })))
  return {
    entities: [...entities, ...pairs],
    notes: [
      ...(passing.length === 0
        ? []
        : [`${passing.length} terminators of hosts that are connected: they make them again`]),
    ],
  }
}

async function listAll(connection: Connection, resource: string): Promise<readonly Shown[]> {
  const found: Shown[] = []
  for (let total = 1; found.length < total; ) {
    const { items, totalCount } = await connection
      .entities(resource)
      .list({ limit: LARGEST_PAGE, offset: found.length })
    found.push(...items)
    total = items.length === 0 ? 0 : totalCount
  }
  return found
}

/** The configs that identities have of their own: the API lists them by identity, without an id. */
async function serviceConfigs(
  { management }: Connection,
  shown: ReadonlyMap<string, readonly Shown[]>,
): Promise<readonly ImportedEntity[]> {
  const configs = shown.get('configs') ?? []
  if (configs.length === 0) return []
  const typeOf = new Map(configs.map(({ id, configTypeId }) => [String(id), String(configTypeId)]))
  const found: ImportedEntity[] = []
  for (const identity of shown.get('identities') ?? []) {
    const params = { id: String(identity.id) }
    const { data } = await management.call('GET /identities/{id}/service-configs', { params })
    for (const { serviceId, configId } of data) {
      const configTypeId = typeOf.get(configId) ?? ''
      const id = `${params.id}.${serviceId}.${configTypeId}`
      const entity = { id, identityId: params.id, serviceId, configId, configTypeId }
      found.push({ resource: 'service-configs', entity })
    }
  }
  return found
}
