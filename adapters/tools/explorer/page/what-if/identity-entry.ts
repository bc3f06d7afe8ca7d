import type { ApiClient, ManagementApi } from '../../../../../src/client/index.ts'
import { given } from './given.ts'

/** How many names are asked for at once. */
const NAMES_AT_ONCE = 100

/** An identity as it stands in a model file, with other role attributes: whole, because a model file removes omitted members. */
export async function identityEntry(
  management: ApiClient<ManagementApi>,
  id: string,
  roleAttributes: readonly string[],
): Promise<object> {
  const [{ data }, serviceConfigs] = await Promise.all([
    management.call('GET /identities/{id}', { params: { id } }),
    management.call('GET /identities/{id}/service-configs', { params: { id } }),
  ])
  const { name, typeId, isAdmin, externalId, appData, tags, permissions } = data
  const costs = data.serviceHostingCosts ?? {}
  const precedences = data.serviceHostingPrecedences ?? {}
  const services = [
    ...Object.keys(costs),
    ...Object.keys(precedences),
    ...serviceConfigs.data.map(({ serviceId }) => serviceId),
  ]
  const [serviceNames, configNames] = await Promise.all([
    namesOf(services, (query) => management.call('GET /services', { query })),
    namesOf(
      serviceConfigs.data.map(({ configId }) => configId),
      (query) => management.call('GET /configs', { query }),
    ),
  ])
  const byName = (values: object) =>
    Object.fromEntries(Object.entries(values).map(([service, value]) => [serviceNames.get(service) ?? service, value]))
  const pairs = serviceConfigs.data.map(({ serviceId, configId }) => ({
    service: serviceNames.get(serviceId) ?? serviceId,
    config: configNames.get(configId) ?? configId,
  }))
  return {
    name,
    type: typeId,
    isAdmin,
    roleAttributes,
    ...given({
      externalId,
      authPolicyId: data.authPolicyId === 'default' ? null : (data.authPolicy?.name ?? data.authPolicyId),
      defaultHostingCost: data.defaultHostingCost || null,
      defaultHostingPrecedence: data.defaultHostingPrecedence === 'default' ? null : data.defaultHostingPrecedence,
      serviceHostingCosts: byName(costs),
      serviceHostingPrecedences: byName(precedences),
      serviceConfigs: pairs,
      permissions,
      appData,
      tags,
    }),
  }
}

interface Named {
  readonly id: string
  readonly name: string
}

type FindNamed = (query: { filter: string; limit: number }) => Promise<{ readonly data: readonly Named[] }>

async function namesOf(ids: readonly string[], find: FindNamed): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)]
  const names = new Map<string, string>()
  for (let from = 0; from < wanted.length; from += NAMES_AT_ONCE) {
    const some = wanted.slice(from, from + NAMES_AT_ONCE)
    const filter = `id in [${some.map((id) => JSON.stringify(id)).join(', ')}]`
    for (const { id, name } of (await find({ filter, limit: NAMES_AT_ONCE })).data) names.set(id, name)
  }
  return names
}
