/** What typed clients know of an operation. It follows from the declaration, once, where that is. */
export interface Signature<Route extends string, Query, Body, Data, Kind extends AnswerKind> {
  readonly route: Route
  /** The query of its own; `undefined` when it takes none beyond that of every list. */
  readonly query: Query
  /** `undefined` when it takes none, or may be called without. */
  readonly body: Body
  readonly data: Data
  readonly kind: Kind
}

/**
 * How an operation answers: data in an envelope; a page of a list, which may be asked for by role; a list as a whole; a
 * document without an envelope; or nothing but that it is done.
 */
export type AnswerKind = 'data' | 'list' | 'roleList' | 'wholeList' | 'content' | 'done'

type Schema<Input> = { readonly _zod: { readonly input: Input } }
/** What travels of a schema. */
export type InputOf<S> = S extends Schema<infer I> ? I : never

export type QueryOf<S> = S extends { readonly query: infer Q } ? InputOf<Q> : undefined

type JsonBody<S> = S extends { readonly body: infer B } ? InputOf<B> : never
type TextBody<S> = S extends { readonly textBody: unknown } ? string : never

export type BodyOf<S> = S extends { readonly body: unknown } | { readonly textBody: unknown }
  ? JsonBody<S> | TextBody<S> | (S extends { readonly bodyOptional: true } ? undefined : never)
  : undefined

export type DataOf<S> = S extends { readonly data: infer D }
  ? InputOf<D>
  : S extends { readonly produces: infer Media }
    ? ContentOf<Media>
    : undefined

/** What an answer without an envelope is read as. */
type ContentOf<Media> = Media extends `image/${string}`
  ? Uint8Array
  : Media extends 'application/json'
    ? unknown
    : string

export type KindOf<S> = S extends { readonly symbols: unknown }
  ? S extends { readonly byRole: true }
    ? 'roleList'
    : 'list'
  : S extends { readonly hasListMeta: true }
    ? 'wholeList'
    : S extends { readonly produces: string }
      ? 'content'
      : S extends { readonly data: unknown }
        ? 'data'
        : 'done'
