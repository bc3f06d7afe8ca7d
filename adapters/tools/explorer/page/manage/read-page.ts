import type { AnswerOf, ManagementApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import type { Role } from '../parts/attribute-link.tsx'
import type { ManagedKind } from './kinds.ts'

export const PAGE_SIZE = 50

/** An entity as a row of a list. */
export interface Row {
  readonly id: string
  readonly name: string
  /** Facts for a first glance. */
  readonly notes: readonly string[]
  /** Role attributes, or the role lists of a policy. */
  readonly roles: readonly RoleList[]
}

interface RoleList {
  /** The kind that has the role attributes, or that the list selects from. */
  readonly kind: string
  readonly entries: readonly Role[]
}

/** The head of the column of each list of roles. */
export const ROLE_TITLES: Readonly<Record<ManagedKind, readonly string[]>> = {
  identities: ['Role attributes'],
  services: ['Role attributes'],
  'service-policies': ['Identities', 'Services', 'Posture checks'],
  'posture-checks': ['Role attributes'],
}

export interface Page {
  readonly rows: readonly Row[]
  readonly total: number
}

/** Reads a page of the entities of a kind whose name holds a text, by name. */
export async function readPage(
  { management }: Apis,
  kind: ManagedKind,
  text: string,
  offset: number,
  signal: AbortSignal,
): Promise<Page> {
  const filter = text.trim() === '' ? {} : { filter: `name icontains ${JSON.stringify(text.trim())}` }
  const request = { query: { ...filter, sort: 'name', limit: PAGE_SIZE, offset }, signal }
  const page = <T>({ data, meta }: Listed<T>, row: (one: T) => Row): Page => {
    return { rows: data.map(row), total: meta.pagination.totalCount }
  }
  switch (kind) {
    case 'identities':
      return page(await management.call('GET /identities', request), identityRow)
    case 'services':
      return page(await management.call('GET /services', request), serviceRow)
    case 'service-policies':
      return page(await management.call('GET /service-policies', request), policyRow)
    case 'posture-checks':
      return page(await management.call('GET /posture-checks', request), checkRow)
  }
}

/** Reads one entity in the form of a row. */
export async function readRow(
  { management }: Apis,
  kind: Exclude<ManagedKind, 'identities'>,
  id: string,
  signal: AbortSignal,
): Promise<Row> {
  const request = { params: { id }, signal }
  switch (kind) {
    case 'services':
      return serviceRow((await management.call('GET /services/{id}', request)).data)
    case 'service-policies':
      return policyRow((await management.call('GET /service-policies/{id}', request)).data)
    case 'posture-checks':
      return checkRow((await management.call('GET /posture-checks/{id}', request)).data)
  }
}

interface Listed<T> {
  readonly data: readonly T[]
  readonly meta: { readonly pagination: { readonly totalCount: number } }
}

type Identity = AnswerOf<ManagementApi['GET /identities/{id}']>['data']
type Service = AnswerOf<ManagementApi['GET /services/{id}']>['data']
type Policy = AnswerOf<ManagementApi['GET /service-policies/{id}']>['data']
type Check = AnswerOf<ManagementApi['GET /posture-checks/{id}']>['data']

function identityRow(one: Identity): Row {
  return {
    id: one.id,
    name: one.name,
    roles: [attributesOf('identities', one.roleAttributes)],
    notes: [
      one.typeId,
      ...(one.isAdmin ? ['admin'] : []),
      ...(one.disabled ? ['disabled'] : []),
      ...(one.hasApiSession ? ['logged in'] : []),
      ...(one.isMfaEnabled ? ['second factor'] : []),
      ...(Object.keys(one.enrollment).length > 0 ? ['not enrolled'] : []),
    ],
  }
}

function serviceRow({ id, name, roleAttributes, encryptionRequired, configs }: Service): Row {
  const count = configs?.length ?? 0
  const notes = [encryptionRequired ? 'encrypted' : 'not encrypted', `${count} config${count === 1 ? '' : 's'}`]
  return { id, name, notes, roles: [attributesOf('services', roleAttributes)] }
}

function policyRow({ id, name, type, semantic, ...roles }: Policy): Row {
  return {
    id,
    name,
    notes: [type, semantic],
    roles: [
      { kind: 'identities', entries: roles.identityRolesDisplay ?? [] },
      { kind: 'services', entries: roles.serviceRolesDisplay ?? [] },
      { kind: 'posture-checks', entries: roles.postureCheckRolesDisplay ?? [] },
    ],
  }
}

function checkRow({ id, name, typeId, roleAttributes }: Check): Row {
  return { id, name, notes: [typeId], roles: [attributesOf('posture-checks', roleAttributes)] }
}

function attributesOf(kind: ManagedKind, attributes: readonly string[] | null | undefined): RoleList {
  return { kind, entries: (attributes ?? []).map((attribute) => ({ role: `#${attribute}`, name: `#${attribute}` })) }
}
