import type { z } from 'zod'
import type { EntityRef, Links, NamedRole } from '../../kernel/declaration/fields.ts'
import type { Immutable, ResourceDefinition, ShapeOf } from '../../kernel/declaration/resource.ts'

/**
 * A single object type with all members of `T`, so that editors show the members and not their derivation. The second parameter lets the
 * result keep the name of its type alias.
 */
export type Flat<T, Member extends keyof T = keyof T> = { readonly [K in Member]: T[K] }

/** The wire values of a schema; a member with a default is always present. */
export type Wire<S> = S extends {
  readonly _zod: { readonly input: infer I; readonly def: { readonly type: infer Type } }
}
  ? Immutable<Type extends 'default' ? Exclude<I, undefined> : I>
  : never
type WireMembers<S> = { readonly [K in keyof S]: Wire<S[K]> }
type InputName<D, K> = D extends { readonly quirks: { readonly inputNames: infer N } }
  ? K extends keyof N
    ? N[K] & string
    : K & string
  : K & string
type Hidden<D> = D extends { readonly hidden: readonly (infer H)[] } ? H : never
type ShownReference<D> = D extends { readonly references: infer R }
  ? { [K in keyof R]: R[K] extends { readonly show: infer N } ? N & string : never }[keyof R]
  : never
type Display<D> = D extends { readonly selects: infer S } ? `${keyof S & string}Display` : never

interface WireBase {
  readonly _links: z.input<typeof Links>
  readonly createdAt: string
  readonly id: string
  readonly tags: Readonly<Record<string, unknown>>
  readonly updatedAt: string
}
type Stored<D extends ResourceDefinition> = D['writable'] & ShapeOf<D, 'createOnly'> & ShapeOf<D, 'system'>
type References<D> = { readonly [K in ShownReference<D>]: EntityRef | null }
type MayBeAbsent<D> = D extends { readonly quirks: { readonly mayBeAbsent: readonly (infer A)[] } } ? A & string : never
type Displays<D> = { readonly [K in Display<D>]: readonly NamedRole[] }
/** Computed members; members with an optional schema may be absent. */
type Derived<S> = {
  readonly [K in keyof S as undefined extends Wire<S[K]> ? never : K]: Wire<S[K]>
} & { readonly [K in keyof S as undefined extends Wire<S[K]> ? K : never]?: Wire<S[K]> }

type Shown<D extends ResourceDefinition> = Omit<WireMembers<Stored<D>>, Hidden<D> & string> &
  Derived<ShapeOf<D, 'derived'>> &
  References<D> &
  Displays<D>

/** The declared wire form of an entity, as a client reads it: instants are RFC 3339 text. */
export type ShownForm<D extends ResourceDefinition> = Flat<
  WireBase &
    Omit<Shown<D>, MayBeAbsent<D>> & {
      readonly [K in MayBeAbsent<D> & keyof Shown<D>]?: NonNullable<Shown<D>[K]>
    }
>

type Body<D, S, Required> = Flat<
  {
    readonly [K in keyof S as K extends Required ? InputName<D, K> : never]: Wire<S[K]>
  } & {
    readonly [K in keyof S as K extends Required ? never : InputName<D, K>]?: Wire<S[K]> | null
  } & { readonly tags?: Readonly<Record<string, unknown>> | null }
>

/** The body by which a client creates an entity. */
export type CreateForm<D extends ResourceDefinition> = Body<
  D,
  D['writable'] & ShapeOf<D, 'createOnly'> & ShapeOf<D, 'createRequest'>,
  D['required'][number]
>

/** The body by which a client replaces an entity. */
export type ReplaceForm<D extends ResourceDefinition> = Body<
  D,
  D['writable'] & ShapeOf<D, 'createOnly'>,
  D extends { readonly quirks: { readonly requiredOnReplace: readonly (infer N)[] } }
    ? N
    : Exclude<D['required'][number], keyof ShapeOf<D, 'createOnly'>>
>

/** The body by which a client changes an entity: members of nested objects may be sent alone. */
export type PatchForm<D extends ResourceDefinition> = Flat<
  Parts<
    Body<
      D,
      D['writable'] & ShapeOf<D, 'createOnly'>,
      D extends { readonly quirks: { readonly requiredOnPatch: readonly (infer N)[] } } ? N : never
    >
  >
>

type Parts<T> = { readonly [K in keyof T]: Part<T[K]> }
type Part<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [K in keyof T]?: Part<T[K]> | null }
    : T

/** A value before serialisation: where the wire has any text, an instant may stand as a Date. */
export type Serializable<T> = T extends string
  ? string extends T
    ? T | Date
    : T
  : T extends readonly (infer E)[]
    ? readonly Serializable<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Serializable<T[K]> }
      : T
