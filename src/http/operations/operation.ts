import type { z } from 'zod'
import type { Permission } from '../../domain/authority.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { SymbolTable } from '../../domain/filter/index.ts'
import type { Answer } from './answer.ts'
import type { AnswerKind, Signature } from './signature.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Who may call an operation: anybody; a session whose second factor may still be missing; a fully authenticated session;
 * an admin; or, beside admins, an identity with any delegated permission at all, or with one in particular.
 */
export type Access = 'public' | 'partial' | 'authenticated' | 'admin' | 'delegate' | Permission

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
  /**
   * True when parameters come in the query or in the body of a form, as OAuth 2.0 has it. A body of another type is not
   * read, and the one form of the answer is given whatever the client accepts.
   */
  readonly form?: true
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
  /** True for one that is much work: those of one identity are answered one after the other. */
  readonly isLong?: true
  readonly status?: 200 | 201 | 202
  /** The status instead that deployed controllers answer with. */
  readonly deployedStatus?: 201
  /** Errors beyond those that every operation of its class may answer. */
  readonly errors?: readonly ErrorCode[]
  /** True where the controller may be without what it takes; it answers 501 then. */
  readonly mayBeMissing?: boolean
}

/**
 * A row of an API. The shape is data for the pipeline and the documents; the type parameters are what typed clients know:
 * the query and the body that it takes, and what it answers.
 */
export interface Operation<
  Route extends string = string,
  Query = unknown,
  Body = unknown,
  Data = unknown,
  Kind extends AnswerKind = AnswerKind,
> {
  readonly shape: OperationShape
  /** Takes what the pipeline read as the shape says: nobody else can know its type. */
  handle(input: never): Promise<Answer>
  /** Never there: it keeps what typed clients know in the type. */
  readonly signature?: Signature<Route, Query, Body, Data, Kind>
}
