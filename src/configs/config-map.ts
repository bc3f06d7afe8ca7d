import { both, equals, type Filter, ids, isIn } from '../../domain/filter/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { configTypes } from '../../resources/services/config-types.ts'
import { configs } from '../../resources/services/configs.ts'
import { serviceConfigs } from '../../resources/services/service-configs.ts'
import type { services } from '../../resources/services/services.ts'

/** Configs of one service as an identity sees them: the data of each by the name of its type. */
export type ConfigMap = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What is shown where nobody asks for any. */
export const NO_CONFIGS: ConfigMap = {}

/** Stands for every config type, where config types are asked for. */
export const ALL_CONFIG_TYPES = 'all'

/**
 * The config maps of services: for each wanted config type, by its name, the data that an identity sees. Its own configs
 * stand before those of the service, whole, and are there where the service has none. `wanted` holds ids or names of config
 * types, or `all`; unknown ones are left out.
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

/** Config types as clients name them, by id: what an API session remembers. `all` stays what it is. */
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
