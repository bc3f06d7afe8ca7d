import type { z } from 'zod'
import type { EntityRef, Links, NamedRole } from './fields.ts'
import type { Immutable, Resource, ResourceDefinition, Shape, ShapeOf } from './resource.ts'

type Wire<T> = T extends z.ZodDefault<infer I> ? Wire<I> : z.input<T>
type WireMembers<S extends Shape> = { readonly [K in keyof S]: Wire<S[K]> }
type InputName<D, K> = D extends { readonly inputNames: infer N }
  ? K extends keyof N
    ? N[K] & string
    : K & string
  : K & string
type Hidden<D> = D extends { readonly hidden: readonly (infer H)[] } ? H : never
type ShownReference<D> = D extends { readonly references: infer R }
  ? { [K in keyof R]: R[K] extends { readonly show: infer N } ? N & string : never }[keyof R]
  : never
type Display<D> = D extends { readonly selects: infer S } ? `${keyof S & string}Display` : never

export interface WireBase {
  readonly _links: z.input<typeof Links>
  readonly createdAt: string
  readonly id: string
  readonly tags: Readonly<Record<string, unknown>>
  readonly updatedAt: string
}
type Stored<D extends ResourceDefinition> = D['writable'] & ShapeOf<D, 'createOnly'> & ShapeOf<D, 'system'>
type References<D> = { readonly [K in ShownReference<D>]: EntityRef | null }
type MayBeAbsent<D> = D extends { readonly mayBeAbsent: readonly (infer A)[] } ? A & string : never
type Displays<D> = { readonly [K in Display<D>]: readonly NamedRole[] }

type Shown<D extends ResourceDefinition> = Omit<WireMembers<Stored<D>>, Hidden<D> & string> &
  WireMembers<ShapeOf<D, 'derived'>> &
  References<D> &
  Displays<D>

/** The wire form of an entity, as a client reads it: instants are RFC 3339 text. */
export type WireOf<R> =
  R extends Resource<infer D>
    ? WireBase &
        Omit<Shown<D>, MayBeAbsent<D>> & {
          readonly [K in MayBeAbsent<D> & keyof Shown<D>]?: NonNullable<Shown<D>[K]>
        }
    : never

type Body<D, S extends Shape, Required> = {
  readonly [K in keyof S as K extends Required ? InputName<D, K> : never]: Immutable<Wire<S[K]>>
} & {
  readonly [K in keyof S as K extends Required ? never : InputName<D, K>]?: Immutable<Wire<S[K]>> | null
} & { readonly tags?: Readonly<Record<string, unknown>> }

/** What a client sends to create an entity. */
export type CreateBodyOf<R> =
  R extends Resource<infer D>
    ? Body<D, D['writable'] & ShapeOf<D, 'createOnly'> & ShapeOf<D, 'createRequest'>, D['required'][number]>
    : never
/** What a client sends to replace an entity. */
export type ReplaceBodyOf<R> =
  R extends Resource<infer D>
    ? Body<
        D,
        D['writable'] & ShapeOf<D, 'createOnly'>,
        D extends { readonly requiredOnReplace: readonly (infer N)[] }
          ? N
          : Exclude<D['required'][number], keyof ShapeOf<D, 'createOnly'>>
      >
    : never
/** What a client sends to change an entity. */
export type PatchBodyOf<R> =
  R extends Resource<infer D>
    ? Body<
        D,
        D['writable'] & ShapeOf<D, 'createOnly'>,
        D extends { readonly requiredOnPatch: readonly (infer N)[] } ? N : never
      >
    : never
