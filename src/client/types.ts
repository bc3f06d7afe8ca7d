import type { ErrorCode } from '../base/errors.ts'
import type { AnswerKind, Signature } from '../http/operations/operation.ts'

/** The signature of any operation. */
export type AnySignature = Signature<string, unknown, unknown, unknown, AnswerKind>

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

/** Versions, and the facts of a list. */
export interface ListMeta extends Meta {
  readonly pagination: Pagination
  /** The fields that `filter` and `sort` may name. */
  readonly filterableFields: readonly string[]
}

/** The part of a list that a page holds. */
export interface Pagination {
  readonly limit: number
  readonly offset: number
  /** How many items the list has on all pages. */
  readonly totalCount: number
}

/** An answer with data. */
export interface Answered<Data, AnswerMeta = Meta> {
  readonly data: Data
  readonly meta: AnswerMeta
}

/** The names between braces in a route. */
type PathParameter<Route> = Route extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParameter<Rest> : never

/** The parameters in the path of a route. */
export type Params<Route> = [PathParameter<Route>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: { readonly [Name in PathParameter<Route>]: string } }

type OwnQuery<Q> = [Q] extends [undefined] ? unknown : Q
/** The query of an operation, with that of every list where it answers one. */
export type WholeQuery<S extends AnySignature> = S['kind'] extends 'list'
  ? ListParameters & OwnQuery<S['query']>
  : S['kind'] extends 'roleList'
    ? RoleListParameters & OwnQuery<S['query']>
    : S['query']

/** A query whose members may all be left out may be left out itself. */
type Query<Q> = [Q] extends [undefined]
  ? { readonly query?: undefined }
  : Record<never, never> extends Q
    ? { readonly query?: Q }
    : { readonly query: Q }

type Body<B> = [B] extends [undefined]
  ? { readonly body?: undefined }
  : undefined extends B
    ? { readonly body?: Exclude<B, undefined> }
    : { readonly body: B }

/** The arguments of a call of an operation: path parameters, query, body; `RequestOf<ManagementApi['POST /services']>`. */
export type RequestOf<S extends AnySignature> = Params<S['route']> &
  Query<WholeQuery<S>> &
  Body<S['body']> & {
    readonly headers?: Readonly<Record<string, string>>
    /** Gives up waiting for the answer. */
    readonly signal?: AbortSignal
  }

/** The arguments behind the route in a call: the request, which may be left out where the operation requires none of its parts. */
export type RequestArguments<S extends AnySignature> =
  Record<never, never> extends RequestOf<S> ? [request?: RequestOf<S>] : [request: RequestOf<S>]

/** The answer of an operation; `AnswerOf<ManagementApi['GET /services/{id}']>['data']` is a service. */
export type AnswerOf<S extends AnySignature> = Answers<S['data']>[S['kind']]

interface Answers<Data> {
  readonly data: Answered<Data>
  readonly list: Answered<readonly Data[], ListMeta>
  readonly roleList: Answered<readonly Data[], ListMeta>
  readonly wholeList: Answered<Data, ListMeta>
  readonly content: Data
  readonly done: Answered<Readonly<Record<string, never>>>
}

/** The body of a refusal by a controller. */
export interface ApiErrorBody {
  readonly code?: string
  readonly message?: string
  readonly requestId?: string
  readonly cause?: Readonly<Record<string, unknown>> | null
}

/** A request that the controller refused. */
export class ApiError extends Error {
  /** HTTP status. */
  readonly status: number
  /** The machine-readable code, for example `NOT_FOUND`; `UNKNOWN` when the responding server is no controller. */
  readonly code: ErrorCode | 'UNKNOWN'
  /** Finds the request in the log of the controller. */
  readonly requestId: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** After how many milliseconds a retry makes sense, where the controller said so. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, body: ApiErrorBody | undefined, retryAfterMs?: number) {
    const said = causeText(body) ?? body?.message ?? 'the controller refused the request'
    super(`${[status, body?.code].filter(Boolean).join(' ')}: ${said}`)
    this.name = 'ApiError'
    this.status = status
    // Controllers answer the codes of one closed list.
    this.code = (body?.code as ErrorCode | undefined) ?? 'UNKNOWN'
    this.requestId = body?.requestId
    this.details = body?.cause ?? undefined
    this.retryAfterMs = retryAfterMs
  }
}

function causeText(body: ApiErrorBody | undefined): string | undefined {
  const { reason, message } = body?.cause ?? {}
  if (typeof reason === 'string') return reason
  return typeof message === 'string' ? message : undefined
}
