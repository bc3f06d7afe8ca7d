import type { z } from 'zod'
import type { ErrorCode } from '../../domain/errors.ts'
import type { SymbolTable } from '../../domain/filter/index.ts'
import type { Call } from '../../engine/context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import type { FindQuery } from '../../ports/storage.ts'
import type { Answer, AnswerTo } from './answer.ts'
import type { ApiDocuments } from './api-documents.ts'
import type { AnswerOf, BodyOf, QueryOf } from './signature.ts'
import type { VersionFacts } from './version-facts.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An action on the entities of one kind, which an identity may hold as a delegated permission (`service.read`). */
export interface Permission {
  readonly entity: string
  readonly action: 'read' | 'create' | 'update' | 'delete'
}

/**
 * Who may call an operation: anybody; a session whose second factor may still be missing; a fully authenticated session;
 * an admin; or, beside admins, an identity with a delegated permission.
 */
export type Access = 'public' | 'partial' | 'authenticated' | 'admin' | Permission

/** What a caller without an API session may prove itself by: a client certificate, a bearer token, or nothing at all. */
export type Credential = 'certificate' | 'token' | 'none'

/** An operation as data. Everything but the handling derives from it: routing, validation, authorization, documents. */
export interface OperationShape {
  /** Method and path template below the API's base, for example `GET /services/{id}`. */
  readonly route: `${Method} /${string}`
  readonly summary: string
  /** What the summary leaves unsaid: effects on other entities, and what a caller must know to use it well. */
  readonly description?: string
  readonly access: Access
  /** For a public operation: what a caller proves itself by, where that is not in the body alone. */
  readonly credentials?: readonly Credential[]
  /** Query parameters of its own; lists take `filter`, `sort`, `limit` and `offset` besides. */
  readonly query?: z.ZodObject
  /** Request headers that it reads. */
  readonly headers?: readonly string[]
  /** The JSON body. */
  readonly body?: z.ZodType
  /** True when the body may be left out. */
  readonly bodyOptional?: boolean
  /** Other spellings of the body, or of each element of a list, put right before it is validated. */
  readonly spellings?: (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  /** Media types whose body is taken as text instead of JSON. */
  readonly textBody?: readonly string[]
  /** The `data` of the answer; an empty object when absent. */
  readonly data?: z.ZodType
  /** What a list's filter may name; makes the operation a list, whose `data` schema describes one item. */
  readonly symbols?: SymbolTable
  /** True for a list whose page is asked for by `skip` and `limit` in the filter alone; without a limit it is whole. */
  readonly pagedByFilter?: boolean
  /** True when a list can be narrowed by `roleFilter`. */
  readonly byRole?: boolean
  /** True when the answer has the `meta` of a list, though no filter narrows it. */
  readonly hasListMeta?: boolean
  /** The media type of an answer that is not an envelope: text, or JSON as `data` describes it. */
  readonly produces?: string
  /** Other media types that it can answer instead, when the client accepts no better one. */
  readonly orProduces?: readonly string[]
  readonly status?: 200 | 201 | 202
  /** Errors beyond those that every operation of its class may answer. */
  readonly errors?: readonly ErrorCode[]
  /** True where the controller may be without what it takes; it answers 501 then. */
  readonly mayBeMissing?: boolean
}

type ReadQuery<S> = S extends { readonly query: infer Q extends z.ZodType } ? z.output<Q> : Record<never, never>
type ReadBody<S> = S extends { readonly body: infer B extends z.ZodType }
  ? S extends { readonly bodyOptional: true }
    ? z.output<B> | undefined
    : z.output<B>
  : undefined
/** The names between braces in a route. */
export type PathParameter<R> = R extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParameter<Rest> : never

/** The validated parts of a request. */
export interface OperationInput<S extends OperationShape = OperationShape> {
  readonly engine: ControllerEngine
  readonly call: Call
  readonly params: { readonly [K in PathParameter<S['route']>]: string }
  readonly query: ReadQuery<S>
  /** Filter, order and page of a list. */
  readonly find: FindQuery
  readonly headers: Headers
  readonly body: ReadBody<S>
  /** The body as text, where the operation takes text. */
  readonly text: string | undefined
  readonly url: URL
  /** What this controller tells about itself. */
  readonly versionFacts: VersionFacts
  /** Writes the documents of both APIs. */
  documents(): ApiDocuments
}

/**
 * A row of an API. The shape is data for the pipeline and the documents; the type parameters are what typed clients know:
 * the query and the body that it takes (`undefined`: none), and what it answers.
 */
export interface Operation<Route extends string = string, Query = unknown, Body = unknown, Answers = unknown> {
  readonly shape: OperationShape
  handle(input: OperationInput): Promise<Answer>
  /** Never there: it keeps what typed clients know in the type. */
  readonly signature?: Signature<Route, Query, Body, Answers>
}

/** What typed clients know of an operation. */
export interface Signature<Route extends string, Query, Body, Answers> {
  readonly route: Route
  readonly query: Query
  readonly body: Body
  readonly answers: Answers
}

/**
 * Declares an operation: its shape as data, and what it does. A handler that answers anything else than the shape's `data`
 * does not compile.
 */
export function defineOperation<const S extends OperationShape>(
  shape: S,
  handle: (input: OperationInput<S>) => Promise<AnswerTo<S>>,
): Operation<S['route'], QueryOf<S>, BodyOf<S>, AnswerOf<S>> {
  // The pipeline reads the input as the shape says, and writes the answer as the shape says.
  return { shape, handle: handle as unknown as Operation['handle'] }
}
