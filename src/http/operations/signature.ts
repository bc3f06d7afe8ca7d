/** What typed clients know of operations. It follows from the declarations, where they are, so that nobody infers it again. */
import type { Flat } from '../../resources/wire-types.ts'

/** The query of every list. */
export interface ListParameters {
  readonly filter?: string
  readonly sort?: string
  readonly limit?: number
  readonly offset?: number
}

/** The query of a list whose entities have role attributes. */
export interface RoleListParameters extends ListParameters {
  /** `#attribute` or `@id`; may be repeated. */
  readonly roleFilter?: readonly string[]
  readonly roleSemantic?: 'AllOf' | 'AnyOf'
}

/** Versions, beside the data of every answer. */
export interface Meta {
  readonly apiEnrollmentVersion: string
  readonly apiVersion: string
}

/** Versions, and what there is to know about a list. */
export interface ListMeta extends Meta {
  readonly pagination: Pagination
  /** The fields that `filter` and `sort` may name. */
  readonly filterableFields: readonly string[]
}

/** Which part of a list a page is. */
export interface Pagination {
  readonly limit: number
  readonly offset: number
  /** How many items the list has on all pages. */
  readonly totalCount: number
}

/** An answer with data. */
export interface Answered<Data> {
  readonly data: Data
  readonly meta: Meta
}

/** A page of a list. */
export interface Listed<Item> {
  readonly data: readonly Item[]
  readonly meta: ListMeta
}

/** The answer of an operation that is done and has nothing to tell. */
export type Done = Answered<Readonly<Record<string, never>>>

type Schema<Input> = { readonly _zod: { readonly input: Input } }
/** What travels of a schema. */
export type InputOf<S> = S extends Schema<infer I> ? I : never

type OwnQuery<S> = S extends { readonly query: infer Q } ? InputOf<Q> : never
type ListQuery<S> = S extends { readonly byRole: true } ? RoleListParameters : ListParameters

/** The query that an operation takes; `undefined` when it takes none. */
export type QueryOf<S> = S extends { readonly symbols: unknown }
  ? S extends { readonly query: unknown }
    ? Flat<ListQuery<S> & OwnQuery<S>>
    : ListQuery<S>
  : S extends { readonly query: unknown }
    ? OwnQuery<S>
    : undefined

type JsonBody<S> = S extends { readonly body: infer B } ? InputOf<B> : never
type TextBody<S> = S extends { readonly textBody: unknown } ? string : never

/** The body that an operation takes; `undefined` when it takes none, or may be called without. */
export type BodyOf<S> = S extends { readonly body: unknown } | { readonly textBody: unknown }
  ? JsonBody<S> | TextBody<S> | (S extends { readonly bodyOptional: true } ? undefined : never)
  : undefined

/** What an answer without `data` and `meta` is read as. */
type ContentOf<Media> = Media extends `image/${string}`
  ? Uint8Array
  : Media extends 'application/json'
    ? unknown
    : string

/** What an operation answers. */
export type AnswerOf<S> = S extends { readonly data: infer D; readonly produces: string }
  ? InputOf<D>
  : S extends { readonly produces: infer Media }
    ? ContentOf<Media>
    : S extends { readonly data: infer D; readonly symbols: unknown }
      ? Listed<InputOf<D>>
      : S extends { readonly data: infer D; readonly hasListMeta: true }
        ? { readonly data: InputOf<D>; readonly meta: ListMeta }
        : S extends { readonly data: infer D }
          ? Answered<InputOf<D>>
          : Done
