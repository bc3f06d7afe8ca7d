import { ApiError } from '../../../src/client/index.ts'
import {
  type Body,
  compact,
  isBuiltIn,
  MODEL_KINDS,
  type ModelKey,
  type ModelKind,
  Network,
  type NetworkEntity,
  renameLinks,
  SERVICE_CONFIGS,
  type ServiceConfigPair,
} from '../../../src/model/index.ts'
import { type AdminOptions, Connection } from './model-connection.ts'

/** Greatest number of entities that a controller answers on one page. */
const PAGE = 500

interface Shown {
  readonly kind: ModelKind
  readonly id: string
  readonly name: string
  readonly entity: Body
}

/**
 * Reads all entities of the kinds of a model from a controller. Entities are in the form of a model file; references are names. Rejects
 * with `ApiError` when the controller refuses.
 *
 * @example
 * const network = await readNetwork({ baseUrl: 'https://localhost:1280', token })
 */
export async function readNetwork(options: AdminOptions): Promise<Network> {
  const connection = new Connection(options)
  const shown: Shown[] = []
  for (const kind of MODEL_KINDS) {
    for (const entity of await listKind(connection, kind)) {
      shown.push({ kind, id: String(entity.id), name: String(entity.name), entity })
    }
  }
  const names = new Map(shown.map(({ kind, id, name }) => [`${kind.key} ${id}`, name]))
  const nameOf = (to: ModelKey, id: string) => names.get(`${to} ${id}`)
  const pairs = await serviceConfigs(connection, shown, nameOf)
  return new Network(shown.map((one) => networkEntity(one, pairs.get(one.id) ?? [], nameOf)))
}

/** Every entity of a kind. Webhooks are empty if the controller does not have them, or shows them to administrators alone. */
async function listKind(connection: Connection, { key, resource }: ModelKind): Promise<readonly Body[]> {
  try {
    return await listAll(connection, resource.name)
  } catch (error) {
    if (key !== 'webhooks' || !(error instanceof ApiError) || ![401, 404].includes(error.status)) throw error
    return []
  }
}

async function listAll(connection: Connection, resource: string): Promise<readonly Body[]> {
  const found: Body[] = []
  for (let total = 1; found.length < total; ) {
    const { items, totalCount } = await connection.entities(resource).list({ limit: PAGE, offset: found.length })
    found.push(...items)
    total = items.length === 0 ? 0 : totalCount
  }
  return found
}

type NameOf = (to: ModelKey, id: string) => string | undefined

function networkEntity(
  { kind, id, name, entity }: Shown,
  pairs: readonly ServiceConfigPair[],
  nameOf: NameOf,
): NetworkEntity {
  const body = sortedSets(kind, renameLinks(kind, compact(kind, entity), nameOf))
  const whole = pairs.length === 0 ? body : { ...body, [SERVICE_CONFIGS]: pairs }
  return { key: kind.key, id, name, body: whole, isKept: isKept(kind.key, id, entity, whole) }
}

/** Sets are kept in the order of ids, which differs from controller to controller. */
function sortedSets({ links, resource }: ModelKind, body: Body): Body {
  const fields = links.flatMap(({ path: [field = ''] }) => (resource.fields[field] === 'set' ? [field] : []))
  const sorted = fields.flatMap((field) => {
    const set = body[field]
    return Array.isArray(set) ? [[field, set.toSorted()] as const] : []
  })
  return { ...body, ...Object.fromEntries(sorted) }
}

/**
 * Leaves out entities that the controller makes itself. The identity of a router is of interest as soon as something was added
 * to it.
 */
function isKept(key: ModelKey, id: string, entity: Body, body: Body): boolean {
  if (key === 'edgeRouterPolicies') return entity.isSystem === true
  if (key === 'configTypes') return isBuiltIn(id)
  if (key !== 'identities') return false
  const isPlain = Object.keys(body).every((member) => ['name', 'type', 'isAdmin'].includes(member))
  return entity.isDefaultAdmin === true || (entity.typeId === 'Router' && isPlain)
}

/** The configs that identities have of their own for services, by identity. */
async function serviceConfigs(
  connection: Connection,
  shown: readonly Shown[],
  nameOf: NameOf,
): Promise<ReadonlyMap<string, readonly ServiceConfigPair[]>> {
  const found = new Map<string, ServiceConfigPair[]>()
  for (const { identityId, serviceId, configId } of await listServiceConfigs(connection, shown)) {
    const [service, config] = [nameOf('services', serviceId), nameOf('configs', configId)]
    if (service === undefined || config === undefined) continue
    found.set(identityId, [...(found.get(identityId) ?? []), { service, config }])
  }
  for (const [identityId, pairs] of found) {
    found.set(
      identityId,
      pairs.toSorted((a, b) => (`${a.service} ${a.config}` < `${b.service} ${b.config}` ? -1 : 1)),
    )
  }
  return found
}

interface IdPair {
  readonly identityId: string
  readonly serviceId: string
  readonly configId: string
}

async function listServiceConfigs(connection: Connection, shown: readonly Shown[]): Promise<readonly IdPair[]> {
  try {
    const found: IdPair[] = []
    for (let total = 1; found.length < total; ) {
      const query = { limit: PAGE, offset: found.length, sort: 'id' }
      const { data, meta } = await connection.portcullis.call('GET /service-configs', { query })
      found.push(...data)
      total = data.length === 0 ? 0 : meta.pagination.totalCount
    }
    return found
  } catch (error) {
    // Other controllers with the same management API list them by identity alone.
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    const found: IdPair[] = []
    for (const { kind, id } of shown) {
      if (kind.key !== 'identities') continue
      const { data } = await connection.management.call('GET /identities/{id}/service-configs', { params: { id } })
      found.push(...data.map(({ serviceId, configId }) => ({ identityId: id, serviceId, configId })))
    }
    return found
  }
}
