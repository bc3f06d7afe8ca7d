import type { ApiClient, ManagementApi } from '../../../../../src/client/index.ts'
import type { Change, PolicyDraft } from './change.ts'

/** Changes as they stand in a model file: every entity whole, with names where the API takes ids. */
export async function modelFileOf(management: ApiClient<ManagementApi>, changes: readonly Change[]): Promise<string> {
  const [identities, services, servicePolicies]: object[][] = [[], [], []]
  const deleted: string[] = []
  const groups: string[] = []
  for (const change of changes) {
    if (change.kind === 'group')
      groups.push(`# Give #${change.roleAttribute} to each identity that has #${change.holders}.\n`)
    else if (change.action === 'delete') deleted.push(change.name)
    else if (change.kind === 'service-policies') servicePolicies?.push(policyEntry(change.policy))
    else if (change.kind === 'identities')
      identities?.push(await identityEntry(management, change.id, change.roleAttributes))
    else services?.push(await serviceEntry(management, change.id, change.roleAttributes))
  }
  const members = { identities, services, servicePolicies }
  const filled = Object.fromEntries(Object.entries(members).filter(([, entries]) => entries && entries.length > 0))
  const gone = deleted.map((name) => `# Take the service policy ${JSON.stringify(name)} out of the file.\n`)
  const lines = Object.keys(filled).length === 0 ? [] : yamlOf(filled)
  return [...groups, ...gone, ...lines.map((line) => `${line}\n`)].join('')
}

function policyEntry({ name, type, semantic, ...roles }: PolicyDraft): object {
  const namesOf = (chips: PolicyDraft['identityRoles']) => chips.map((chip) => chip.name)
  const postureCheckRoles = namesOf(roles.postureCheckRoles)
  return {
    name,
    type,
    semantic,
    identityRoles: namesOf(roles.identityRoles),
    serviceRoles: namesOf(roles.serviceRoles),
    ...(postureCheckRoles.length > 0 && { postureCheckRoles }),
  }
}

async function serviceEntry(
  management: ApiClient<ManagementApi>,
  id: string,
  roleAttributes: readonly string[],
): Promise<object> {
  const [{ data }, configs] = await Promise.all([
    management.call('GET /services/{id}', { params: { id } }),
    management.call('GET /services/{id}/configs', { params: { id } }),
  ])
  const { name, encryptionRequired, terminatorStrategy, maxIdleTimeMillis, tags } = data
  const names = configs.data.map((config) => config.name)
  return {
    name,
    roleAttributes,
    encryptionRequired,
    terminatorStrategy,
    ...given({ maxIdleTimeMillis: maxIdleTimeMillis || null, configs: names, tags }),
  }
}

/** How many names are asked for at once. */
const NAMES_AT_ONCE = 100

/** An identity as it stands in a model file, with other role attributes: whole, because a model file removes omitted members. */
async function identityEntry(
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
    readNames(services, (query) => management.call('GET /services', { query })),
    readNames(
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

async function readNames(ids: readonly string[], find: FindNamed): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)]
  const names = new Map<string, string>()
  for (let from = 0; from < wanted.length; from += NAMES_AT_ONCE) {
    const some = wanted.slice(from, from + NAMES_AT_ONCE)
    const filter = `id in [${some.map((id) => JSON.stringify(id)).join(', ')}]`
    for (const { id, name } of (await find({ filter, limit: NAMES_AT_ONCE })).data) names.set(id, name)
  }
  return names
}

/** Keeps the members that have a value: a model file leaves defaults out. */
function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => {
      if (value === null || value === undefined) return false
      return typeof value !== 'object' || Object.keys(value).length > 0
    }),
  )
}

/** A text that no reader of YAML takes for anything else; every other text is quoted as in JSON. */
const PLAIN = /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z_][\w@./-]*$/i

/** The lines of a value in YAML. A model file holds nothing that JSON does not have, so that no library is needed. */
export function yamlOf(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((one) => led('- ', yamlOf(one)))
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
      const lines = yamlOf(one)
      const isInline = typeof one !== 'object' || one === null || Object.keys(one).length === 0
      return isInline ? [`${textOf(name)}: ${lines[0]}`] : [`${textOf(name)}:`, ...led('  ', lines)]
    })
  }
  return [typeof value === 'string' ? textOf(value) : JSON.stringify(value)]
}

function textOf(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text)
}

/** Lines behind a mark, the further ones below the first. */
function led(mark: string, [first = '', ...further]: readonly string[]): readonly string[] {
  return [`${mark}${first}`, ...further.map((line) => `  ${line}`)]
}
