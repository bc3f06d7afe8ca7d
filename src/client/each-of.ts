import type { AnyRequest } from './request.ts'
import type { AnySignature, ListMeta, Params, WholeQuery } from './types.ts'

/** The routes of an API that answer lists by pages. */
export type ListRoute<Api> = {
  [R in keyof Api]: Api[R] extends { readonly kind: 'list' | 'roleList' } ? R : never
}[keyof Api] &
  string

/** What a list is asked for, without the place of a page in it: its query, and what its path needs beside. */
export type ListRequest<S extends AnySignature> = Omit<WholeQuery<S>, 'offset'> &
  Partial<Params<S['route']>> & { readonly signal?: AbortSignal }

const PAGE_SIZE = 500

interface ListPage {
  readonly data: readonly never[]
  readonly meta: ListMeta
}

/** The items of all pages that `ask` answers, in order. */
export async function* eachOf(
  ask: (request: AnyRequest) => Promise<unknown>,
  { params, signal, ...query }: Pick<AnyRequest, 'params' | 'signal'> & { readonly limit?: number } = {},
): AsyncIterableIterator<never> {
  for (let offset = 0; ; ) {
    const request = { params, signal, query: { limit: PAGE_SIZE, ...query, offset } }
    // Every operation that answers by pages answers so.
    const { data, meta } = (await ask(request)) as ListPage
    yield* data
    offset += data.length
    if (data.length === 0 || offset >= meta.pagination.totalCount) return
  }
}
