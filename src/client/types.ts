import type { OperationShape } from '../http/operations/operation.ts'

interface ListParameters {
  readonly filter?: string
  readonly sort?: string
  readonly limit?: number
  readonly offset?: number
}

type Schema<Input> = { readonly _zod: { readonly input: Input } }
type InputOf<S> = S extends Schema<infer I> ? I : never
type PathParameters<R> = R extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParameters<Rest> : never

type Params<R> = [PathParameters<R>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: { readonly [K in PathParameters<R>]: string } }
type Query<S> = S extends { readonly query: infer Q; readonly symbols: unknown }
  ? { readonly query?: ListParameters & InputOf<Q> }
  : S extends { readonly query: infer Q }
    ? { readonly query: InputOf<Q> }
    : S extends { readonly symbols: unknown }
      ? { readonly query?: ListParameters }
      : { readonly query?: undefined }
type Body<S> = S extends { readonly body: infer B }
  ? S extends { readonly bodyOptional: true }
    ? { readonly body?: InputOf<B> }
    : { readonly body: InputOf<B> }
  : { readonly body?: undefined }

/** What a call of an operation takes: path parameters, query, body. */
export type RequestOf<R extends string, S> = Params<R> &
  Query<S> &
  Body<S> & { readonly headers?: Readonly<Record<string, string>> }

interface Pagination {
  readonly limit: number
  readonly offset: number
  readonly totalCount: number
}

/** What an answer without `data` and `meta` is read as. */
type ContentOf<Media> = Media extends `image/${string}`
  ? Uint8Array
  : Media extends 'application/json'
    ? unknown
    : string

/** What an operation answers. */
export type AnswerOf<S> = S extends OperationShape & { readonly symbols: unknown; readonly data: infer D }
  ? {
      readonly data: readonly InputOf<D>[]
      readonly meta: { readonly pagination: Pagination; readonly filterableFields: readonly string[] }
    }
  : S extends { readonly data: infer D; readonly produces: string }
    ? InputOf<D>
    : S extends { readonly produces: infer Media }
      ? ContentOf<Media>
      : S extends { readonly data: infer D }
        ? { readonly data: InputOf<D>; readonly meta: object }
        : { readonly data: Readonly<Record<string, never>>; readonly meta: object }

/** What a controller said when it refused a request. */
export interface ApiErrorBody {
  readonly code?: string
  readonly message?: string
  readonly requestId?: string
  readonly cause?: Readonly<Record<string, unknown>>
}

/** A request that the controller refused. */
export class ApiError extends Error {
  /** HTTP status. */
  readonly status: number
  /** The machine-readable code, for example `NOT_FOUND`. */
  readonly code: string
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(status: number, body: ApiErrorBody | undefined) {
    const said = causeText(body) ?? body?.message ?? 'the controller refused the request'
    super(`${[status, body?.code].filter(Boolean).join(' ')}: ${said}`)
    this.name = 'ApiError'
    this.status = status
    this.code = body?.code ?? 'UNKNOWN'
    this.details = body?.cause
  }
}

function causeText(body: ApiErrorBody | undefined): string | undefined {
  const { reason, message } = body?.cause ?? {}
  if (typeof reason === 'string') return reason
  return typeof message === 'string' ? message : undefined
}
