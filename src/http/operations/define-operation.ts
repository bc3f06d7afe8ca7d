import type { z } from 'zod'
import type { Call } from '../../engine/context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import type { FindQuery } from '../../ports/storage.ts'
import type { AnswerTo, WithoutOthers } from './answer-to.ts'
import type { ApiDocuments } from './api-documents.ts'
import type { Operation, OperationShape } from './operation.ts'
import type { BodyOf, DataOf, KindOf, QueryOf } from './signature.ts'
import type { VersionFacts } from './version-facts.ts'

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
  /** The same as a request to the engine, whose methods know what was read by their schema and do not read it again. */
  readonly request: SentBody<S>
  /** The body as text, where the operation takes text. */
  readonly text: string | undefined
  readonly url: URL
  /** What this controller tells about itself. */
  readonly versionFacts: VersionFacts
  /** Writes the documents of both APIs. */
  documents(): ApiDocuments
}

/**
 * Declares an operation: its shape as data, and what it does. A handler that answers anything else than the shape's `data`
 * does not compile.
 */
export function defineOperation<const S extends OperationShape, A extends AnswerTo<S>>(
  shape: S,
  handle: (input: OperationInput<S>) => Promise<A & WithoutOthers<A, S>>,
): Operation<S['route'], QueryOf<S>, BodyOf<S>, DataOf<S>, KindOf<S>> {
  return { shape, handle }
}
