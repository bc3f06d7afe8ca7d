import { ApiError } from '../../../../../src/client/index.ts'
import type { Apis } from './apis.ts'
import { controllerUrl } from './controller-url.ts'

const PAGE_SIZE = 100

/** An entity of any kind, by its name or id. */
interface Item {
  readonly id: string
  readonly name: string
}

/** Some entities, and how many there are in all. */
export interface List {
  readonly items: readonly Item[]
  readonly total: number
}

/** A page of a collection. */
export async function readList(apis: Apis, kind: string, offset: number, signal: AbortSignal): Promise<List> {
  const answer = await ask(apis, `${kind}?limit=${PAGE_SIZE}&offset=${offset}`, { signal })
  const data = memberOf(answer, 'data')
  const total = memberOf(memberOf(memberOf(answer, 'meta'), 'pagination'), 'totalCount')
  const items = Array.isArray(data) ? data.map(itemOf) : []
  return { items, total: typeof total === 'number' ? total : items.length }
}

/** One entity, as the API answers it. */
export async function readJson(apis: Apis, kind: string, id: string, signal: AbortSignal): Promise<unknown> {
  return memberOf(await ask(apis, `${kind}/${encodeURIComponent(id)}`, { signal }), 'data')
}

/** Creates an entity of a kind from a body of the API; answers its id. */
export async function createFrom(apis: Apis, kind: string, body: unknown): Promise<string> {
  return String(memberOf(memberOf(await ask(apis, kind, withBody('POST', body)), 'data'), 'id') ?? '')
}

/** Changes the members of an entity that a body names. */
export async function changeBy(apis: Apis, kind: string, id: string, body: unknown): Promise<void> {
  await ask(apis, `${kind}/${encodeURIComponent(id)}`, withBody('PATCH', body))
}

/** Deletes an entity of any kind. */
export async function deleteOf(apis: Apis, kind: string, id: string): Promise<void> {
  await ask(apis, `${kind}/${encodeURIComponent(id)}`, { method: 'DELETE' })
}

function withBody(method: string, body: unknown): RequestInit {
  return { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

async function ask({ send }: Apis, path: string, init: RequestInit): Promise<unknown> {
  const response = await send(new Request(`${controllerUrl()}/edge/management/v1/${path}`, init))
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const refusal = memberOf(answer, 'error')
  const [code, message] = [memberOf(refusal, 'code'), memberOf(refusal, 'message')]
  const [field, reason] = [
    memberOf(memberOf(refusal, 'cause'), 'field'),
    memberOf(memberOf(refusal, 'cause'), 'reason'),
  ]
  throw new ApiError(response.status, {
    ...(typeof code === 'string' && { code }),
    ...(typeof message === 'string' && { message }),
    ...(typeof reason === 'string' && {
      cause: { reason: typeof field === 'string' ? `${field}: ${reason}` : reason },
    }),
  })
}

function itemOf(value: unknown): Item {
  const [id, name] = [memberOf(value, 'id'), memberOf(value, 'name')]
  return { id: String(id ?? ''), name: typeof name === 'string' && name !== '' ? name : String(id ?? '') }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
