import { ApiError } from '../../../../../src/client/index.ts'
import type { Connection } from '../../connection/connect.ts'
import { apiOf, type Body } from './entity-fields.ts'

/** An entity as the API shows it. */
export type Entity = Body & { readonly id: string }

/** A page of a list. */
export interface Page {
  readonly entities: readonly Entity[]
  readonly totalCount: number
}

interface Request {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: Body
}

interface Answered {
  readonly data: unknown
  readonly meta: { readonly pagination?: { readonly totalCount: number } }
}

/** Calls an operation on a collection by a route that is composed here. The caller has to know the type of the answer. */
function callRoute(connection: Connection, route: string, request: Request): Promise<Answered> {
  const [, collection = ''] = /\/([^/]+)/.exec(route) ?? []
  const { call: operation } = connection[apiOf(collection)]
  const call = operation as unknown as (route: string, request: Request) => Promise<Answered>
  return call(route, request)
}

/** A page of a collection. */
export async function listPage(
  connection: Connection,
  collection: string,
  query: Readonly<Record<string, string | number>>,
): Promise<Page> {
  const { data, meta } = await callRoute(connection, `GET /${collection}`, { query })
  // Every list of the API answers entities.
  const entities = data as readonly Entity[]
  return { entities, totalCount: meta.pagination?.totalCount ?? entities.length }
}

/** The entity with an id or a name. Throws an `Error` when it is unknown, or several entities have the name. */
export async function findEntity(connection: Connection, collection: string, idOrName: string): Promise<Entity> {
  try {
    const { data } = await callRoute(connection, `GET /${collection}/{id}`, { params: { id: idOrName } })
    return data as Entity
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    const named = await entitiesNamed(connection, collection, idOrName)
    const [found] = named
    if (found === undefined) throw new Error(`${collection}: none has the id or name '${idOrName}'`, { cause: error })
    if (named.length > 1) throw new Error(`${collection}: several have the name '${idOrName}', take an id`)
    return found
  }
}

async function entitiesNamed(connection: Connection, collection: string, name: string): Promise<readonly Entity[]> {
  const filter = `name = "${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  try {
    return (await listPage(connection, collection, { filter, limit: 2 })).entities
  } catch (error) {
    // An entity without a name is found by its id alone.
    if (error instanceof ApiError && error.status === 400) return []
    throw error
  }
}

/** Makes an entity; answers its id. */
export async function postEntity(connection: Connection, collection: string, body: Body): Promise<string> {
  const { data } = await callRoute(connection, `POST /${collection}`, { body })
  return (data as Entity).id
}

/** Changes an entity; members outside the body stay. */
export async function patchEntityById(
  connection: Connection,
  collection: string,
  id: string,
  body: Body,
): Promise<void> {
  await callRoute(connection, `PATCH /${collection}/{id}`, { params: { id }, body })
}

/** Deletes an entity. */
export async function deleteEntityById(connection: Connection, collection: string, id: string): Promise<void> {
  await callRoute(connection, `DELETE /${collection}/{id}`, { params: { id } })
}
