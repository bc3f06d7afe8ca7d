import type { Apis } from '../api/apis.ts'
import type { ManagedKind } from './kinds.ts'

export const PAGE_SIZE = 50

/** An entity as a row of a list. */
export interface Row {
  readonly id: string
  readonly name: string
  /** Facts that people want to know of it at a glance. */
  readonly notes: readonly string[]
  readonly roles: readonly string[]
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
  switch (kind) {
    case 'identities': {
      const { data, meta } = await management.call('GET /identities', request)
      const rows = data.map((one) => ({
        id: one.id,
        name: one.name,
        roles: (one.roleAttributes ?? []).map((attribute) => `#${attribute}`),
        notes: [
          one.typeId,
          ...(one.isAdmin ? ['admin'] : []),
          ...(one.disabled ? ['disabled'] : []),
          ...(one.hasApiSession ? ['logged in'] : []),
          ...(one.isMfaEnabled ? ['second factor'] : []),
          ...(Object.keys(one.enrollment).length > 0 ? ['not enrolled'] : []),
        ],
      }))
      return { rows, total: meta.pagination.totalCount }
    }
    case 'services': {
      const { data, meta } = await management.call('GET /services', request)
      const rows = data.map(({ id, name, roleAttributes, encryptionRequired, configs }) => ({
        id,
        name,
        roles: (roleAttributes ?? []).map((attribute) => `#${attribute}`),
        notes: [encryptionRequired ? 'encrypted' : 'not encrypted', `${configs?.length ?? 0} configs`],
      }))
      return { rows, total: meta.pagination.totalCount }
    }
    case 'service-policies': {
      const { data, meta } = await management.call('GET /service-policies', request)
      const rows = data.map(({ id, name, type, semantic, ...roles }) => ({
        id,
        name,
        roles: [...(roles.identityRolesDisplay ?? []), ...(roles.serviceRolesDisplay ?? [])].map((role) => role.name),
        notes: [type, semantic, ...((roles.postureCheckRoles ?? []).length > 0 ? ['asks for posture'] : [])],
      }))
      return { rows, total: meta.pagination.totalCount }
    }
    case 'posture-checks': {
      const { data, meta } = await management.call('GET /posture-checks', request)
      const rows = data.map(({ id, name, typeId, roleAttributes }) => ({
        id,
        name,
        roles: (roleAttributes ?? []).map((attribute) => `#${attribute}`),
        notes: [typeId],
      }))
      return { rows, total: meta.pagination.totalCount }
    }
  }
}
