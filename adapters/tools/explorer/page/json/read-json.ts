import { ApiError } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { controllerUrl } from '../api/controller-url.ts'

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
  const answer = await ask(apis, `${kind}?limit=${PAGE_SIZE}&offset=${offset}`, signal)
  const data = memberOf(answer, 'data')
  const total = memberOf(memberOf(memberOf(answer, 'meta'), 'pagination'), 'totalCount')
  const items = Array.isArray(data) ? data.map(itemOf) : []
  return { items, total: typeof total === 'number' ? total : items.length }
}

/** One entity, as the API answers it. */
export async function readJson(apis: Apis, kind: string, id: string, signal: AbortSignal): Promise<unknown> {
  return memberOf(await ask(apis, `${kind}/${encodeURIComponent(id)}`, signal), 'data')
}

async function ask({ send }: Apis, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await send(new Request(`${controllerUrl()}/edge/management/v1/${path}`, { signal }))
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const code = memberOf(memberOf(answer, 'error'), 'code')
  const message = memberOf(memberOf(answer, 'error'), 'message')
  throw new ApiError(response.status, {
    ...(typeof code === 'string' && { code }),
    ...(typeof message === 'string' && { message }),
  })
}

function itemOf(value: unknown): Item {
  const [id, name] = [memberOf(value, 'id'), memberOf(value, 'name')]
  return { id: String(id ?? ''), name: typeof name === 'string' && name !== '' ? name : String(id ?? '') }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
