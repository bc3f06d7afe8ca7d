import type { ApiClient, ManagementApi } from '../../../../../src/client/index.ts'
import type { Change, PolicyDraft } from './change.ts'
import { given } from './given.ts'
import { identityEntry } from './identity-entry.ts'
import { yamlOf } from './yaml.ts'

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
