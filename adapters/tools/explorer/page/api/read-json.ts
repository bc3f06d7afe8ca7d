import type { Apis } from './apis.ts'

/** An entity of any kind as the API answers it, with its name or id. */
export interface Row {
  readonly id: string
  readonly name: string
  readonly of: Readonly<Record<string, unknown>>
}

/** Some entities, and how many there are in all. */
export interface List {
  readonly rows: readonly Row[]
  readonly total: number
}

/** The wanted part of a list. An empty filter is left out. */
export interface ListQuery {
  readonly filter?: string
  readonly sort?: string
  readonly limit: number
  readonly offset?: number
}

/** A page of a collection. */
export async function readList(apis: Apis, kind: string, query: ListQuery, signal: AbortSignal): Promise<List> {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))
  const answer = await ask(apis, `GET /${kind}`, { query: given, signal })
  const data = memberOf(answer, 'data')
  const total = memberOf(memberOf(memberOf(answer, 'meta'), 'pagination'), 'totalCount')
  const rows = Array.isArray(data) ? data.map(rowOf) : []
  return { rows, total: typeof total === 'number' ? total : rows.length }
}

/** One entity, as the API answers it. */
export async function readJson(apis: Apis, kind: string, id: string, signal?: AbortSignal): Promise<unknown> {
  return memberOf(await ask(apis, `GET /${kind}/{id}`, { params: { id }, signal }), 'data')
}

/** Creates an entity of a kind from a body of the API; answers its id. */
export async function createFrom(apis: Apis, kind: string, body: unknown): Promise<string> {
  return String(memberOf(memberOf(await ask(apis, `POST /${kind}`, { body }), 'data'), 'id') ?? '')
}

/** Changes the members of an entity that a body names; all of them by `PUT`. */
export async function changeBy(
  apis: Apis,
  kind: string,
  id: string,
  body: unknown,
  method: 'PATCH' | 'PUT' = 'PATCH',
): Promise<void> {
  await ask(apis, `${method} /${kind}/{id}`, { params: { id }, body })
}

/** Deletes an entity of any kind. */
export async function deleteOf(apis: Apis, kind: string, id: string): Promise<void> {
  await ask(apis, `DELETE /${kind}/{id}`, { params: { id } })
}

/** Calls an operation whose kind is known by its name alone, so that its answer has no type. Rejects with `ApiError`. */
async function ask({ management, portcullis }: Apis, route: string, request: object): Promise<unknown> {
  const { call } = route.includes(' /webhooks') ? portcullis : management
  return (call as (route: string, request: object) => Promise<unknown>)(route, request)
}

/** An entity as a row of a list. */
export function rowOf(value: unknown): Row {
  const [id, name] = [memberOf(value, 'id'), memberOf(value, 'name')]
  const of = membersOf(value)
  return { id: String(id ?? ''), name: typeof name === 'string' && name !== '' ? name : String(id ?? ''), of }
}

/** A member of an object; undefined for any other value. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** The members of an object; none of any other value. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
