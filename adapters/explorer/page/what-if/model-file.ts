import { stringify } from 'yaml'
import type { Apis } from '../api/apis.ts'
import type { Change, PolicyDraft } from './change.ts'

/** Changes as they stand in a model file: every entity whole, with names where the API takes ids. */
export async function modelFileOf(apis: Apis, changes: readonly Change[]): Promise<string> {
  const [identities, services, servicePolicies]: object[][] = [[], [], []]
  const deleted: string[] = []
  for (const change of changes) {
    if (change.action === 'delete') deleted.push(change.name)
    else if (change.kind === 'service-policies') servicePolicies?.push(policyEntry(change.policy))
    else if (change.kind === 'identities') identities?.push(await identityEntry(apis, change.id, change.roleAttributes))
    else services?.push(await serviceEntry(apis, change.id, change.roleAttributes))
  }
  const members = { identities, services, servicePolicies }
  const filled = Object.fromEntries(Object.entries(members).filter(([, entries]) => entries && entries.length > 0))
  const gone = deleted.map((name) => `# Take the service policy ${JSON.stringify(name)} out of the file.\n`)
  return gone.join('') + (Object.keys(filled).length === 0 ? '' : stringify(filled, { lineWidth: 120 }))
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

async function identityEntry({ management }: Apis, id: string, roleAttributes: readonly string[]): Promise<object> {
  const { data } = await management.call('GET /identities/{id}', { params: { id } })
  const { name, typeId, isAdmin, externalId, appData, tags } = data
  return { name, type: typeId, isAdmin, roleAttributes, ...given({ externalId, appData, tags }) }
}

async function serviceEntry({ management }: Apis, id: string, roleAttributes: readonly string[]): Promise<object> {
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

/** What has a value: a model file leaves defaults out. */
function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => {
      if (value === null || value === undefined) return false
      return typeof value !== 'object' || Object.keys(value).length > 0
    }),
  )
}
