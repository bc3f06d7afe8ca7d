import { invalidField } from '../base/errors.ts'
import { configs, configTypes, serviceConfigs } from '../facts/configs/config.resource.ts'
import type { services } from '../facts/services/service.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, type Filter, ids, isIn } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'

/** Configs of one service as an identity sees them: the data of each by the name of its type. */
export type ConfigMap = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The configs of a service when no config type was asked for. */
export const NO_CONFIGS: ConfigMap = {}

/** Stands for every config type, where config types are asked for. */
export const ALL_CONFIG_TYPES = 'all'

/**
 * The config maps of services: for each wanted config type, by its name, the data that an identity sees. Its own config
 * replaces that of the service as a whole, and is shown where the service has none. `wanted` holds ids or names of
 * config types, or `all`; unknown ones are left out.
 */
export async function configMaps(
  tx: ReadTransaction,
  records: readonly RecordOf<typeof services>[],
  identityId: string,
  wanted: readonly string[],
): Promise<readonly ConfigMap[]> {
  if (wanted.length === 0 || records.length === 0) return records.map(() => NO_CONFIGS)
  const types = await tx.collection(configTypes).find(typeQuery(wanted))
  const nameOf = new Map(types.items.map(({ id, name }) => [id, name]))
  const ofServices = isIn(
    'serviceId',
    records.map(({ id }) => id),
  )
  const where = both(equals('identityId', identityId), ofServices)
  const overrides = await tx.collection(serviceConfigs).find(where && { where })
  const named = [...records.flatMap((service) => service.configs), ...overrides.items.map(({ configId }) => configId)]
  const ownOf = new Map<string, readonly string[]>()
  for (const { serviceId, configId } of overrides.items) {
    ownOf.set(serviceId, [...(ownOf.get(serviceId) ?? []), configId])
  }
  const found = await tx.collection(configs).find({ where: ids(new Set(named)) })
  const configOf = new Map(found.items.map((config) => [config.id, config]))
  return records.map((service) => {
    const shown = [...service.configs, ...(ownOf.get(service.id) ?? [])].flatMap((id) => {
      const config = configOf.get(id)
      const name = config && nameOf.get(config.configTypeId)
      return config === undefined || name === undefined ? [] : [[name, config.data] as const]
    })
    return Object.fromEntries(shown)
  })
}

/** Config types as clients name them, by id: an API session stores them. `all` stays as it is. */
export async function configTypeIds(tx: ReadTransaction, wanted: readonly string[]): Promise<readonly string[]> {
  if (wanted.length === 0) return []
  if (wanted.includes(ALL_CONFIG_TYPES)) return [ALL_CONFIG_TYPES]
  const { items } = await tx.collection(configTypes).find(typeQuery(wanted))
  return items.map(({ id }) => id)
}

function typeQuery(wanted: readonly string[]): { readonly where?: Filter } {
  return wanted.includes(ALL_CONFIG_TYPES)
    ? {}
    : { where: { kind: 'or', left: ids(wanted), right: isIn('name', wanted) } }
}

interface Configured {
  readonly configs: readonly string[]
}

/**
 * Refuses configs that do not belong to a service or a router: of a type with another target, or two of one type. Only a
 * changed list is judged. Unknown ids are left to the check of references.
 */
export async function checkAttachedConfigs(
  tx: ReadTransaction,
  target: 'service' | 'router',
  before: Configured | undefined,
  after: Configured,
): Promise<void> {
  if (after.configs.length === 0 || after.configs.join() === before?.configs.join()) return
  const { items } = await tx.collection(configs).find({ where: ids(after.configs) })
  const types = await tx.collection(configTypes).find({ where: ids(items.map(({ configTypeId }) => configTypeId)) })
  const seen = new Map<string, string>()
  for (const { name, configTypeId } of items) {
    const configType = types.items.find(({ id }) => id === configTypeId)
    const typeName = configType?.name ?? configTypeId
    if (configType?.target !== target) {
      const reason = `config ${name} has config type ${typeName} which does not target ${target}s`
      throw invalidField('configs', reason, after.configs)
    }
    const other = seen.get(configTypeId)
    if (other !== undefined) {
      const rule = `Only one config of a given type is allowed per ${target}`
      const reason = `duplicate configs named ${other} and ${name} found for config type ${typeName}. ${rule}`
      throw invalidField('configs', reason, after.configs)
    }
    seen.set(configTypeId, name)
  }
}
