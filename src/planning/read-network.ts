import { attributesPossible } from '../facts/authority/authority.rules.ts'
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
} from '../model/index.ts'
import { listAll, type NetworkDoor } from './network-door.ts'

interface Shown {
  readonly kind: ModelKind
  readonly id: string
  readonly name: string
  readonly entity: Body
}

/** Reads all entities of the kinds of a model. They are in the form of a model file; references are names. */
export async function readNetwork(door: NetworkDoor): Promise<Network> {
  const shown: Shown[] = []
  for (const kind of MODEL_KINDS) {
    const entities = door.entities(kind.resource.name)
    for (const entity of await listAll((query) => entities.list(query))) {
      shown.push({ kind, id: String(entity.id), name: String(entity.name), entity })
    }
  }
  const names = new Map(shown.map(({ kind, id, name }) => [`${kind.key} ${id}`, name]))
  const nameOf = (to: ModelKey, id: string) => names.get(`${to} ${id}`)
  const pairs = await serviceConfigs(door, shown, nameOf)
  return new Network(shown.map((one) => networkEntity(one, pairs.get(one.id) ?? [], nameOf)))
}

type NameOf = (to: ModelKey, id: string) => string | undefined

function networkEntity(
  { kind, id, name, entity }: Shown,
  pairs: readonly ServiceConfigPair[],
  nameOf: NameOf,
): NetworkEntity {
  const body = sortedSets(kind, renameLinks(kind, compact(kind, entity), nameOf))
  const whole = pairs.length === 0 ? body : { ...body, [SERVICE_CONFIGS]: pairs }
  // Stored role attributes are in the body.
  const others = attributesPossible({ ...entity, roleAttributes: [] })
  const known = { key: kind.key, id, name, body: whole, isKept: isKept(kind.key, id, entity, whole) }
  return others.length === 0 ? known : { ...known, otherAttributes: others }
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

/** Leaves out entities that the controller makes itself. The identity of a router is of interest as soon as something was added to it. */
function isKept(key: ModelKey, id: string, entity: Body, body: Body): boolean {
  if (key === 'edgeRouterPolicies') return entity.isSystem === true
  if (key === 'configTypes') return isBuiltIn(id)
  if (key !== 'identities') return false
  const isPlain = Object.keys(body).every((member) => ['name', 'type', 'isAdmin'].includes(member))
  return entity.isDefaultAdmin === true || (entity.typeId === 'Router' && isPlain)
}

/** The configs that identities have of their own for services, by identity. */
async function serviceConfigs(
  door: NetworkDoor,
  shown: readonly Shown[],
  nameOf: NameOf,
): Promise<ReadonlyMap<string, readonly ServiceConfigPair[]>> {
  const found = new Map<string, ServiceConfigPair[]>()
  const identityIds = shown.flatMap(({ kind, id }) => (kind.key === 'identities' ? [id] : []))
  for (const { identityId, serviceId, configId } of await door.serviceConfigs.list(identityIds)) {
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
