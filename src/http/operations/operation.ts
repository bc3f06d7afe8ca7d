import { z } from 'zod'
import type { ErrorCode } from '../../base/errors.ts'
import type { Permission } from '../../facts/authority/authority.rules.ts'
import type { OpenOperatorSession } from '../../facts/fabric/messages/operators.ts'
import { Links } from '../../kernel/declaration/fields.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { SymbolTable } from '../../kernel/filter/index.ts'
import type { Page } from '../../ports/record-storage.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * The access that an operation requires: none; a session whose second factor may still be missing; a fully authenticated session; an
 * admin; or, beside admins, an identity with any delegated permission, or with a particular one.
 */
export type Access = 'public' | 'partial' | 'authenticated' | 'admin' | 'delegate' | Permission

/** The proof that a caller without an API session may bring: a client certificate, a bearer token, or none at all. */
export type Credential = 'certificate' | 'token' | 'none'

/** An operation as data. Everything but the handling derives from it: routing, validation, authorization, documents. */
export interface OperationShape {
  /** Method and path template below the API's base, for example `GET /services/{id}`. */
  readonly route: `${Method} /${string}`
  readonly summary: string
  /** The rest that the summary leaves unsaid: effects on other entities, and knowledge that a caller needs to use it well. */
  readonly description?: string
  readonly access: Access
  /**
   * The kinds of entity that its answer is about, where they are several. A caller that may not read all of them is
   * refused: the answer would reveal entities that are kept from it.
   */
  readonly reads?: readonly string[]
  /** For a public operation: the proofs of a caller outside of the body. */
  readonly credentials?: readonly Credential[]
  /** Query parameters of its own; lists take `filter`, `sort`, `limit` and `offset` besides. */
  readonly query?: z.ZodObject
  /** Request headers that it reads. */
  readonly headers?: readonly string[]
  /**
   * True when parameters come in the query or in the body of a form, as OAuth 2.0 has it. A body of another type is not
   * read, and the answer has its one form whatever the client accepts.
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
  /** Symbols that a list's filter may name; they make the operation a list, whose `data` schema describes one item. */
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
  /** True for an operation that is much work: the requests of one identity are answered one after the other. */
  readonly isLong?: true
  readonly status?: 200 | 201 | 202
  /** The status instead that deployed controllers answer with. */
  readonly deployedStatus?: 201
  /** Errors beyond the common ones of its class. */
  readonly errors?: readonly ErrorCode[]
  /** True where the controller may lack a part that the operation needs; it answers 501 then. */
  readonly mayBeMissing?: boolean
}

/**
 * A row of an API. The shape is data for the pipeline and the documents; the type parameters are for typed clients: the
 * query and the body that it takes, and its answer.
 */
export interface Operation<
  Route extends string = string,
  Query = unknown,
  Body = unknown,
  Data = unknown,
  Kind extends AnswerKind = AnswerKind,
> {
  readonly shape: OperationShape
  /** Takes the input that the pipeline read by the shape: only the pipeline knows its type. */
  handle(input: never): Promise<Answer>
  /** Never set: it carries the types for typed clients. */
  readonly signature?: Signature<Route, Query, Body, Data, Kind>
}

/** An operation as typed clients know it. It follows from the declaration. */
export interface Signature<Route extends string, Query, Body, Data, Kind extends AnswerKind> {
  readonly route: Route
  /** Its own query; `undefined` when it takes no parameters beyond those of every list. */
  readonly query: Query
  /** `undefined` when it takes no body, or may be called without. */
  readonly body: Body
  readonly data: Data
  readonly kind: Kind
}

/**
 * The form of an operation's answer: data in an envelope; a page of a list, which may be asked for by role; a list as a
 * whole; a document without an envelope; or an empty object.
 */
export type AnswerKind = 'data' | 'list' | 'roleList' | 'wholeList' | 'content' | 'done'

type Schema<Input> = { readonly _zod: { readonly input: Input } }
/** The values of a schema as they travel. */
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

/** The type in which an answer without an envelope is read. */
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

/** An answer of a handler: data, response headers, or a body of its own. */
export interface Answer {
  readonly data?: unknown
  readonly page?: Page<unknown>
  readonly raw?: string | Uint8Array
  /** Text that goes on being written, of the type that the operation can produce instead. */
  readonly stream?: ReadableStream<Uint8Array>
  /** The session that begins when the connection goes on as a channel. */
  readonly upgrade?: OpenOperatorSession
  /** The status, where it differs from the declared one. */
  readonly status?: number
  /** Members of `meta` beyond those of every answer. */
  readonly meta?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** The created entity, and where it is found. */
export interface CreatedData {
  readonly _links: z.output<typeof Links>
  readonly id: string
}

/** The `data` of a create answer. */
export const Created: z.ZodType<CreatedData, CreatedData> = described(z.object({ _links: Links, id: z.string() }), {
  id: 'The id of the entity.',
})

/** Answers that an entity was created, with its id and where it is. */
export function created(resource: Resource, id: string): { readonly data: CreatedData } {
  return { data: { _links: { self: { href: `./${resource.name}/${id}` } }, id } }
}

/** Answers an empty `data` object. */
export const DONE = {} as const

/** Answers an empty `data` object once some work is done. */
export async function done(work: Promise<unknown>): Promise<typeof DONE> {
  await work
  return DONE
}

/** The members of an object that a schema names. */
export function onlyMembers<T extends object, S extends z.ZodObject>(
  object: T,
  { shape }: S,
): Pick<T, keyof T & keyof S['shape']> {
  const members = Object.entries(object).filter(([name]) => Object.hasOwn(shape, name))
  // Picked by the names that the type picks.
  return Object.fromEntries(members) as Pick<T, keyof T & keyof S['shape']>
}

/** The facts that a controller reports about itself. */
export interface VersionFacts {
  /** With a leading `v`: clients read it as the controller's version. */
  readonly version: string
  readonly revision: string
  /** RFC 3339. */
  readonly buildDate: string
  readonly runtimeVersion: string
}

/** The OpenAPI 3.1 documents of every API, as plain JSON. */
export interface ApiDocuments {
  readonly management: Readonly<Record<string, unknown>>
  readonly client: Readonly<Record<string, unknown>>
  readonly fabric: Readonly<Record<string, unknown>>
  readonly portcullis: Readonly<Record<string, unknown>>
}
