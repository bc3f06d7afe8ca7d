import type { z } from 'zod'
import type { ErrorCode } from '../../base/errors.ts'
import type { Limits } from '../../base/limits.ts'
import type { FieldKind, Literal, SymbolTable } from '../filter/index.ts'
import type { Quirks } from './quirks.ts'
import type { RecordKind } from './record-kind.ts'

/** A filter symbol that no field holds, and how its value follows from the facts. */
export type ComputedSymbol = { readonly kind: FieldKind } & (
  | { readonly by: 'constant'; readonly value: Literal }
  | { readonly by: 'member'; readonly field: string; readonly path: readonly string[] }
  | { readonly by: 'presence' }
  | { readonly by: 'reference'; readonly reference: string; readonly field: string }
  | { readonly by: 'policy'; readonly selected: string }
)

/** The same for every record. */
export function always(kind: FieldKind, value: Literal): ComputedSymbol {
  return { by: 'constant', kind, value }
}

/** A member inside a JSON field: `primary.cert.allowed`. Every record is looked at, so this is for kinds of few records. */
export function member(kind: FieldKind, place: string): ComputedSymbol {
  const [field = '', ...path] = place.split('.')
  return { by: 'member', kind, field, path }
}

/** Whether the router is connected to the data plane. */
export const IS_CONNECTED: ComputedSymbol = { by: 'presence', kind: 'boolean' }

/** A text field of the entity whose id `reference` holds. */
export function ofReference(reference: string, field: string): ComputedSymbol {
  return { by: 'reference', kind: 'string', reference, field }
}

/** The ids of the entities of a resource that the policy's role lists select. */
export function selectedBy(resource: string): ComputedSymbol {
  return { by: 'policy', kind: 'set', selected: resource }
}

export type Shape = Readonly<Record<string, z.ZodType>>
/**
 * The type that a schema reads. Looked up: comparing the schema with the whole type of a schema would cost each project a
 * second.
 */
type OutputOf<S> = S extends { readonly _zod: { readonly output: infer O } } ? O : never
type Output<S> = { readonly [K in keyof S]: Immutable<OutputOf<S[K]>> }
/** A value that nobody may change. */
export type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T
type NoFields = Record<never, never>

export interface Reference {
  /** The name of the resource referred to, for example `auth-policies`. */
  readonly to: string
  /** Another resource that the id may belong to as well. */
  readonly orTo?: string
  /** True when the id may stand for something that is not stored. */
  readonly isLoose?: boolean
  /** The effect on a record when one that it refers to is deleted; `clear` takes the id out of the field. */
  readonly onDelete: 'restrict' | 'cascade' | 'clear'
  /** Under which member the entity reference is shown; absent when it is not. */
  readonly show?: string
}

/** How many records of a kind one owner has at most, and what becomes of one more. */
export interface MostPerOwner {
  /** The field that holds the owner's id; it is indexed. */
  readonly owner: string
  readonly limit: keyof Limits
  /** An instant: the record that holds the earliest is ended for a new one. Absent where the new one is refused. */
  readonly endsEarliest?: string
}

/** The standard operations of a resource; special ones are rows of their own. */
export type StandardOperation = 'list' | 'get' | 'create' | 'replace' | 'patch' | 'delete'

/**
 * How a field that the engine writes comes back when a change is taken back. `decided`: a caller decided it by a request of its
 * own, and any change of it is set back. `computed`: it follows from fields that come back. `anew`: a secret that is made anew.
 * `bound`: where it holds something, the entity belongs to a session, and does not come back. `fact`: as it was, with an entity
 * that was deleted.
 */
export type SystemField = 'decided' | 'computed' | 'anew' | 'bound' | 'fact'

export interface ResourceDefinition {
  /** Plural name on the wire and in paths: `service-policies`. */
  readonly name: string
  /** The word in messages: `service policy with id x not found`. */
  readonly singular: string
  /** The word of the deployed stores, in messages and counts: `servicePolicies`. */
  readonly storeName: string
  /** Fields that a caller writes; one that is not required carries the default that replaces it when absent. */
  readonly writable: Shape
  /** Fields that a caller writes once, at creation. */
  readonly createOnly?: Shape
  /** Members that a create request may hold besides; they are not stored in the record. */
  readonly createRequest?: Shape
  /** Fields that the engine writes. */
  readonly system?: Shape
  /** Shown on the wire, computed from facts, never stored. */
  readonly derived?: Shape
  /** Stored fields that are never shown. */
  readonly hidden?: readonly string[]
  /** Shown fields that let anybody in who knows them: the audit trail tells digests of them, as of hidden texts. */
  readonly secrets?: readonly string[]
  /** Hidden texts that hold no secret: the audit trail tells them to administrators as they are. */
  readonly plain?: readonly string[]
  /** Fields that the engine writes and that are no mere facts when a change is taken back. */
  readonly undo?: Readonly<Record<string, Exclude<SystemField, 'fact'>>>
  readonly required: readonly string[]
  readonly unique?: readonly string[]
  readonly indexed?: readonly string[]
  /** Fields that hold the id of an entity, or a set of ids. */
  readonly references?: Readonly<Record<string, Reference>>
  /** Role lists: field to the resource whose role attributes they select. */
  readonly selects?: Readonly<Record<string, string>>
  /** Related collections below the entity, for `_links`. */
  readonly links?: readonly string[]
  /** Filter symbols that differ from the fields: symbol to field, or null to hide one. */
  readonly symbols?: Readonly<Record<string, string | null>>
  /** Filter symbols that no field holds. Every resource has `isSystem`, which is false where nothing is said. */
  readonly computed?: Readonly<Record<string, ComputedSymbol>>
  /** True when endpoints make records of it as they like: their tags are small, and nothing is kept to search them. */
  readonly isWrittenByEndpoints?: true
  /** True when the controller alone adds records of it, as large as they have to be, and changes none: no limit asks for them. */
  readonly isJournal?: true
  /** How many records of it one owner has at most. */
  readonly mostPerOwner?: MostPerOwner
  /** JSON fields into which the engine looks, besides those that a filter may name. */
  readonly searchedInside?: readonly string[]
  /** The word of the delegated permissions: `service-policy`, so `service-policy.read`. */
  readonly permission: string
  readonly operations: readonly StandardOperation[]
  /** Where its wire forms differ from what all the above says of any resource. */
  readonly quirks?: Quirks
  /** Errors of creating, replacing and patching beyond those of every resource. */
  readonly writeErrors?: readonly ErrorCode[]
  /** Standard operations that no delegated permission opens. */
  readonly adminOnly?: readonly StandardOperation[]
}

/** The fields of every record. Instants are epoch milliseconds. (A type, not an interface: only types index implicitly.) */
export type BaseRecord = {
  readonly id: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly tags: Readonly<Record<string, unknown>>
}

export type ShapeOf<D, K extends string> = D extends { readonly [P in K]: infer S } ? S : NoFields
type Stored<D> = BaseRecord &
  Output<ShapeOf<D, 'writable'>> &
  Output<ShapeOf<D, 'createOnly'>> &
  Output<ShapeOf<D, 'system'>>

/** The fields that a request may carry or an answer shows, and that need words therefore. */
export type WordedField<D extends ResourceDefinition> = string &
  (
    | keyof D['writable']
    | keyof ShapeOf<D, 'createOnly'>
    | keyof ShapeOf<D, 'createRequest'>
    | keyof ShapeOf<D, 'derived'>
    | Exclude<keyof ShapeOf<D, 'system'>, D extends { readonly hidden: readonly (infer H)[] } ? H : never>
  )

/** The stored record of a resource. */
export type RecordOf<R> = R extends { readonly definition: infer D } ? Stored<D> : never
/** A validated create request. */
export type CreateOf<R> = R extends { readonly definition: infer D }
  ? Pick<BaseRecord, 'tags'> &
      Output<ShapeOf<D, 'writable'>> &
      Output<ShapeOf<D, 'createOnly'>> &
      Output<ShapeOf<D, 'createRequest'>>
  : never
/** A validated replace request. */
export type ReplaceOf<R> = R extends { readonly definition: infer D }
  ? Pick<BaseRecord, 'tags'> & Output<ShapeOf<D, 'writable'>>
  : never
/** A validated patch request: only what was sent. */
export type PatchOf<R> = Partial<ReplaceOf<R>>
/** The fields of a record that only the engine writes. */
export type SystemOf<R> = R extends { readonly definition: infer D } ? Output<ShapeOf<D, 'system'>> : never

/** A resource: what was declared, and everything that follows from it. */
export interface Resource<D extends ResourceDefinition = ResourceDefinition> extends RecordKind<Stored<D>> {
  readonly definition: D
  /** Bodies of create, replace and patch, in the words of the wire. */
  readonly create: z.ZodObject
  readonly replace: z.ZodObject
  readonly patch: z.ZodObject
  /** The value of each field that nobody has written. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** The wire form of one entity. */
  readonly detail: z.ZodObject
  /** Symbols that a filter may name. */
  readonly symbols: SymbolTable
  /** Those of them that no field holds. */
  readonly computed: Readonly<Record<string, ComputedSymbol>>
}
