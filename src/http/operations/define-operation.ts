import type { z } from 'zod'
import type { Call } from '../../context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import type { ShownOf } from '../../facts/resources/wire-forms.ts'
import type { Serializable } from '../../facts/resources/wire-types.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import type { FindQuery, Page } from '../../ports/record-storage.ts'
import type {
  ApiDocuments,
  BodyOf,
  DataOf,
  InputOf,
  KindOf,
  Operation,
  OperationShape,
  QueryOf,
  VersionFacts,
} from './operation.ts'

type ReadQuery<S> = S extends { readonly query: infer Q extends z.ZodType } ? z.output<Q> : Record<never, never>
type SentBody<S> = S extends { readonly body: infer B extends z.ZodType }
  ? S extends { readonly bodyOptional: true }
    ? z.input<B> | undefined
    : z.input<B>
  : undefined
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
  /** The parameters of query and form, where the operation takes a form; the last of a name counts, the query's first. */
  readonly form: ReadonlyMap<string, string>
  /** Filter, order and page of a list. */
  readonly find: FindQuery
  readonly headers: Headers
  readonly body: ReadBody<S>
  /** The same as a request to the engine. Its methods recognise input that their schema has read, and do not read it again. */
  readonly request: SentBody<S>
  /** The body as text, where the operation takes text. */
  readonly text: string | undefined
  readonly url: URL
  /** The facts that this controller reports about itself. */
  readonly versionFacts: VersionFacts
  /** Writes the documents of all APIs. */
  documents(): ApiDocuments
}

/** Declares an operation: its shape as data, and its handler. A handler whose answer does not match the shape's `data` does not compile. */
export function defineOperation<const S extends OperationShape, A extends AnswerTo<S>>(
  shape: S,
  handle: (input: OperationInput<S>) => Promise<A & WithoutOthers<A, S>>,
): Operation<S['route'], QueryOf<S>, BodyOf<S>, DataOf<S>, KindOf<S>> {
  return { shape, handle }
}

interface WithHeaders {
  readonly headers?: Readonly<Record<string, string>>
}

interface DataAnswer<Data> extends WithHeaders {
  readonly data: Data
}

interface PageAnswer<Item> extends WithHeaders {
  readonly page: Page<Item>
}

interface RawAnswer extends WithHeaders {
  readonly raw: string | Uint8Array
}

/** An empty `data` object. */
interface EmptyAnswer extends WithHeaders {
  readonly data?: undefined
}

/** A list that is answered as data has to give the `meta` of a page itself. */
interface WholeListAnswer<Data> extends DataAnswer<Data> {
  readonly meta: {
    readonly filterableFields: readonly string[]
    readonly pagination: { readonly limit: number; readonly offset: number; readonly totalCount: number }
  }
}

type Data<D> = Serializable<InputOf<D>>

/** The answer that the handler of an operation must give, by its declaration. */
export type AnswerTo<S> = S extends { readonly data: infer D; readonly symbols: unknown }
  ? PageAnswer<Data<D>>
  : S extends { readonly data: infer D; readonly hasListMeta: true }
    ? WholeListAnswer<Data<D>> | (InputOf<D> extends readonly (infer I)[] ? PageAnswer<Serializable<I>> : never)
    : S extends { readonly data: infer D }
      ? DataAnswer<Data<D>>
      : S extends { readonly produces: string }
        ? RawAnswer
        : EmptyAnswer

type NameOf<T> = T extends unknown ? keyof T : never
/** Forbids the members of `Given` that neither `Known` nor any variant of it has; a map may have any. */
type Only<Given, Known> = string extends NameOf<Known> | keyof Given
  ? unknown
  : { readonly [Name in Exclude<keyof Given, NameOf<Known>>]: never }

/** An answer whose data, or the items of its page, has no members beyond the schema. */
export type WithoutOthers<A, S> = S extends { readonly data: infer D }
  ? A extends { readonly data: infer Given }
    ? { readonly data: Only<Given, InputOf<D>> }
    : A extends { readonly page: { readonly items: readonly (infer Given)[] } }
      ? { readonly page: { readonly items: readonly Only<Given, ItemOf<S, InputOf<D>>>[] } }
      : unknown
  : unknown
type ItemOf<S, D> = S extends { readonly hasListMeta: true } ? (D extends readonly (infer I)[] ? I : never) : D

/** The schema of an entity's wire form, typed by the resource's declaration. */
export function wireSchema<R extends Resource>(resource: R): z.ZodType<unknown, ShownOf<R>> {
  // The detail schema is built from the same declaration that the type is computed from.
  return resource.detail as unknown as z.ZodType<unknown, ShownOf<R>>
}
