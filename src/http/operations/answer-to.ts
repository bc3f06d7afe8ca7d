import type { Page } from '../../ports/storage.ts'
import type { Serializable } from '../../resources/wire/wire-types.ts'
import type { InputOf } from './signature.ts'

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

/** Nothing to tell: an empty `data` object. */
interface EmptyAnswer extends WithHeaders {
  readonly data?: undefined
}

/** A list that is answered as data says itself what a page's `meta` says. */
interface WholeListAnswer<Data> extends DataAnswer<Data> {
  readonly meta: {
    readonly filterableFields: readonly string[]
    readonly pagination: { readonly limit: number; readonly offset: number; readonly totalCount: number }
  }
}

type Data<D> = Serializable<InputOf<D>>

/** What the handler of an operation must answer, by its declaration. */
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
/** Forbids the members of `Given` that `Known`, or any variant of it, does not have; of maps no member is another. */
type Only<Given, Known> = string extends NameOf<Known> | keyof Given
  ? unknown
  : { readonly [Name in Exclude<keyof Given, NameOf<Known>>]: never }

/** What an answer must be besides: without members in its data, or in the items of its page, that the schema does not have. */
export type WithoutOthers<A, S> = S extends { readonly data: infer D }
  ? A extends { readonly data: infer Given }
    ? { readonly data: Only<Given, InputOf<D>> }
    : A extends { readonly page: { readonly items: readonly (infer Given)[] } }
      ? { readonly page: { readonly items: readonly Only<Given, ItemOf<S, InputOf<D>>>[] } }
      : unknown
  : unknown
type ItemOf<S, D> = S extends { readonly hasListMeta: true } ? (D extends readonly (infer I)[] ? I : never) : D
