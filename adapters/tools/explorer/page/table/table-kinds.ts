import type { Row } from '../api/read-json.ts'
import { timeText } from '../parts/words.ts'
import { type Column, entity, instant, member, memberAt, roles, state } from './columns.tsx'
import type { FilterKey, FilterKeys } from './filter-terms.ts'
import { certificateEnd, lastSession } from './identity-details.ts'

/** How lists of a kind are shown and narrowed. */
export interface TableKind {
  readonly columns: Readonly<Record<string, Column>>
  readonly filters: FilterKeys
  /** The order unless another one is chosen. */
  readonly sort: string
  /** Whether its entities have no name, and stand there by their id. */
  readonly isNameless?: boolean
}

function yesNo(label: string, symbol: string): FilterKey {
  return { label, values: ['yes', 'no'], condition: (_, value) => `${symbol} = ${value === 'yes'}` }
}

function oneOf(label: string, symbol: string, values?: readonly string[]): FilterKey {
  return { label, ...(values && { values }), condition: (literal) => `${symbol} = ${literal}` }
}

function holding(label: string, symbol: string): FilterKey {
  return { label, condition: (literal) => `${symbol} icontains ${literal}` }
}

const NAME = holding('Name holds', 'name')
const ATTR: FilterKey = { label: 'Role attribute', condition: (literal) => `anyOf(roleAttributes) = ${literal}` }
const CREATED = instant('Created', 'createdAt', { sort: 'createdAt', isMore: true })
const CHANGED = instant('Changed', 'updatedAt', { sort: 'updatedAt', isMore: true })

/** A kind whose entities have a name, or stand there by their id. */
function named(columns: TableKind['columns'] = {}, filters: FilterKeys = {}): TableKind {
  const all = { ...columns, created: CREATED, changed: CHANGED }
  return { columns: all, filters: { name: NAME, ...filters }, sort: 'name' }
}

function nameless(columns: TableKind['columns'] = {}, filters: FilterKeys = {}): TableKind {
  const all = { ...columns, created: { ...CREATED, isMore: false } }
  return {
    columns: all,
    filters: { name: holding('Id holds', 'id'), ...filters },
    sort: 'createdAt desc',
    isNameless: true,
  }
}

const OF_IDENTITY = { identity: holding('Identity, by its name', 'identity.name') }
const IDENTITY = entity('Identity', 'identities', 'identity')
const METHOD = member('Method', 'method', { sort: 'method' })
const SERVICE = entity('Service', 'services', 'service')
const SEMANTIC = oneOf('Semantic', 'semantic', ['AnyOf', 'AllOf'])
const DISABLED = yesNo('Disabled', 'disabled')

const BY_IDENTITIES = roles('Identities', 'identities', 'identityRoles')
const BY_SERVICES = roles('Services', 'services', 'serviceRoles')
const BY_ROUTERS = roles('Edge routers', 'edge-routers', 'edgeRouterRoles')

const TABLES: Readonly<Record<string, TableKind>> = {
  identities: named(
    {
      state: state(identityState),
      type: member('Type', 'typeId', { sort: 'type' }),
      attributes: roles('Role attributes', 'identities', 'roleAttributes'),
      os: member('Operating system', 'envInfo.os', { sort: 'os' }),
      seen: instant('Last seen', (row) => lastSession(row)?.lastActivityAt),
      owner: member('Owner', 'tags.owner', { isMore: true }),
      sdk: { title: 'SDK', sort: 'sdk', isMore: true, text: sdkText },
      address: { title: 'Address', isMore: true, text: (row) => String(lastSession(row)?.ipAddress ?? '') },
      certificate: instant('Certificate until', certificateEnd, { isMore: true }),
      admin: member('Administrator', 'isAdmin', { sort: 'isAdmin', isMore: true }),
      factor: member('Second factor', 'isMfaEnabled', { isMore: true }),
      external: member('External id', 'externalId', { sort: 'externalId', isMore: true }),
    },
    {
      attr: ATTR,
      online: yesNo('Connected to a router', 'hasEdgeRouterConnection'),
      disabled: DISABLED,
      admin: yesNo('Administrator', 'isAdmin'),
      type: oneOf('Type', 'type', ['User', 'Device', 'Service', 'Router', 'Default']),
      os: oneOf('Operating system', 'os'),
      sdk: oneOf('SDK', 'sdk'),
      owner: oneOf('Owner, a tag', 'tags.owner'),
      external: oneOf('External id', 'externalId'),
    },
  ),
  services: named(
    {
      attributes: roles('Role attributes', 'services', 'roleAttributes'),
      encrypted: member('Encrypted', 'encryptionRequired', { sort: 'encryptionRequired' }),
      configs: { title: 'Configs', text: (row) => String([memberAt(row, 'configs') ?? []].flat().length || '') },
    },
    { attr: ATTR, encrypted: yesNo('Encrypted', 'encryptionRequired') },
  ),
  'service-policies': named(
    {
      type: member('Type', 'type', { sort: 'type' }),
      identities: BY_IDENTITIES,
      services: BY_SERVICES,
      checks: roles('Posture checks', 'posture-checks', 'postureCheckRoles'),
      semantic: member('Semantic', 'semantic', { sort: 'semantic', isMore: true }),
    },
    {
      type: oneOf('Type', 'type', ['Dial', 'Bind']),
      semantic: SEMANTIC,
      identity: oneOf('Selects the identity', 'anyOf(identities.name)'),
      service: oneOf('Selects the service', 'anyOf(services.name)'),
    },
  ),
  'posture-checks': named(
    {
      type: member('Asks for', 'typeId', { sort: 'typeId' }),
      attributes: roles('Role attributes', 'posture-checks', 'roleAttributes'),
    },
    { attr: ATTR, type: oneOf('Asks for', 'typeId', ['OS', 'DOMAIN', 'MAC', 'MFA', 'PROCESS', 'PROCESS_MULTI']) },
  ),
  'edge-routers': named(
    {
      state: state(routerState),
      attributes: roles('Role attributes', 'edge-routers', 'roleAttributes'),
      version: member('Version', 'versionInfo.version'),
      address: member('Address', 'hostname'),
      cost: member('Cost', 'cost', { sort: 'cost', isMore: true }),
    },
    { attr: ATTR, online: yesNo('Online', 'isOnline'), disabled: DISABLED },
  ),
  'edge-router-policies': named({ identities: BY_IDENTITIES, routers: BY_ROUTERS }, { semantic: SEMANTIC }),
  'service-edge-router-policies': named({ services: BY_SERVICES, routers: BY_ROUTERS }, { semantic: SEMANTIC }),
  configs: named({ type: entity('Type', 'config-types', 'configType') }),
  terminators: nameless(
    { service: SERVICE, router: entity('Router', 'edge-routers', 'router'), address: member('Address', 'address') },
    { service: holding('Service, by its name', 'service.name') },
  ),
  sessions: nameless({ identity: IDENTITY, service: SERVICE }, OF_IDENTITY),
  'api-sessions': nameless(
    {
      identity: IDENTITY,
      address: member('Address', 'ipAddress', { sort: 'ipAddress' }),
      seen: instant('Last seen', 'lastActivityAt', { sort: 'lastActivityAt' }),
    },
    OF_IDENTITY,
  ),
  authenticators: nameless(
    { identity: IDENTITY, method: METHOD, certificate: instant('Certificate until', certificateEnd) },
    { ...OF_IDENTITY, method: oneOf('Method', 'method', ['cert', 'updb']) },
  ),
  enrollments: nameless(
    { identity: IDENTITY, method: METHOD, until: instant('Good until', 'expiresAt', { sort: 'expiresAt' }) },
    { method: oneOf('Method', 'method', ['ott', 'ottca', 'updb']) },
  ),
  revocations: nameless(),
}

const PLAIN = named()

/** The table of a kind of the management API. */
export function tableOf(kind: string): TableKind {
  return TABLES[kind] ?? PLAIN
}

/** Whether an identity may log in, and is connected. */
export function identityState(row: Row) {
  if (memberAt(row, 'disabled') === true) return { word: disabledText(row), tone: 'down' } as const
  if (memberAt(row, 'hasEdgeRouterConnection') === true) return { word: 'online', tone: 'online' } as const
  if (memberAt(row, 'hasApiSession') === true) return { word: 'logged in', tone: 'online' } as const
  if (Object.keys(Object(memberAt(row, 'enrollment'))).length > 0) return { word: 'invited', tone: 'none' } as const
  return { word: 'offline', tone: 'none' } as const
}

function disabledText(row: Row): string {
  const until = memberAt(row, 'disabledUntil')
  return until ? `disabled until ${timeText(String(until))}` : 'disabled'
}

function routerState(row: Row) {
  if (memberAt(row, 'disabled') === true) return { word: 'disabled', tone: 'down' } as const
  if (memberAt(row, 'isOnline') === true) return { word: 'online', tone: 'online' } as const
  if (memberAt(row, 'isVerified') === false) return { word: 'not enrolled', tone: 'none' } as const
  return { word: 'offline', tone: 'down' } as const
}

function sdkText(row: Row): string {
  return ['type', 'version']
    .map((name) => memberAt(row, `sdkInfo.${name}`) ?? '')
    .join(' ')
    .trim()
}
