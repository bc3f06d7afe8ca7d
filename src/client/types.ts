import type { ErrorCode } from '../domain/errors.ts'

/** What typed clients know of an operation. */
export interface AnySignature {
  readonly route: string
  readonly query: unknown
  readonly body: unknown
  readonly answers: unknown
}

/** The names between braces in a route. */
type PathParameter<Route> = Route extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParameter<Rest> : never

type Params<Route> = [PathParameter<Route>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: { readonly [Name in PathParameter<Route>]: string } }

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

/** What a call of an operation takes: path parameters, query, body; `RequestOf<ManagementApi['POST /services']>`. */
export type RequestOf<S extends AnySignature> = Params<S['route']> &
  Query<S['query']> &
  Body<S['body']> & { readonly headers?: Readonly<Record<string, string>> }

/** What stands behind the route in a call: the request, which may be left out where the operation needs none of its parts. */
export type RequestArguments<S extends AnySignature> =
  Record<never, never> extends RequestOf<S> ? [request?: RequestOf<S>] : [request: RequestOf<S>]

/** What an operation answers; `AnswerOf<ManagementApi['GET /services/{id}']>['data']` is a service. */
export type AnswerOf<S extends AnySignature> = S['answers']

/** What a controller said when it refused a request. */
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
  /** The machine-readable code, for example `NOT_FOUND`; `UNKNOWN` when something else than a controller answered. */
  readonly code: ErrorCode | 'UNKNOWN'
  /** Finds the request in the log of the controller. */
  readonly requestId: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(status: number, body: ApiErrorBody | undefined) {
    const said = causeText(body) ?? body?.message ?? 'the controller refused the request'
    super(`${[status, body?.code].filter(Boolean).join(' ')}: ${said}`)
    this.name = 'ApiError'
    this.status = status
    // Controllers answer the codes of one closed list.
    this.code = (body?.code as ErrorCode | undefined) ?? 'UNKNOWN'
    this.requestId = body?.requestId
    this.details = body?.cause ?? undefined
  }
}

function causeText(body: ApiErrorBody | undefined): string | undefined {
  const { reason, message } = body?.cause ?? {}
  if (typeof reason === 'string') return reason
  return typeof message === 'string' ? message : undefined
}
