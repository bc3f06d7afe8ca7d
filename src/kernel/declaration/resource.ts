import type { z } from 'zod'
import type { ErrorCode } from '../../base/errors.ts'
import type { Limits } from '../../base/limits.ts'
import type { FieldKind, Literal, SymbolTable } from '../filter/index.ts'
import type { Quirks } from './quirks.ts'
import type { RecordKind } from './record-kind.ts'

/** A filter symbol without a field, and the derivation of its value. */
export type ComputedSymbol = { readonly kind: FieldKind } & (
  | { readonly by: 'constant'; readonly value: Literal }
  | { readonly by: 'member'; readonly field: string; readonly path: readonly string[] }
  | { readonly by: 'presence' }
  | { readonly by: 'state'; readonly state: 'online' | 'disabled' }
  | { readonly by: 'reference'; readonly reference: string; readonly field: string }
  | { readonly by: 'policy'; readonly selected: string }
)

/** A symbol with the same value for every record. */
export function always(kind: FieldKind, value: Literal): ComputedSymbol {
  return { by: 'constant', kind, value }
}

/** A member inside a JSON field: `primary.cert.allowed`. A filter on it reads every record, so it suits kinds with few records. */
export function member(kind: FieldKind, place: string): ComputedSymbol {
  const [field = '', ...path] = place.split('.')
  return { by: 'member', kind, field, path }
}

/** True while the router is connected to the data plane. */
export const IS_CONNECTED: ComputedSymbol = { by: 'presence', kind: 'boolean' }

/** The state of an identity now: connected to an edge router, or disabled. */
export function inState(state: 'online' | 'disabled'): ComputedSymbol {
  return { by: 'state', kind: 'boolean', state }
}

/** A text field of the entity whose id `reference` holds. */
export function ofReference(reference: string, field: string): ComputedSymbol {
  return { by: 'reference', kind: 'string', reference, field }
}

/** The ids of the entities of a resource that the policy's role lists select. */
export function selectedBy(resource: string): ComputedSymbol {
  return { by: 'policy', kind: 'set', selected: resource }
}

export type Shape = Readonly<Record<string, z.ZodType>>
/** The output type of a schema, by lookup: comparing with the whole schema type would cost each project a second of compilation. */
type OutputOf<S> = S extends { readonly _zod: { readonly output: infer O } } ? O : never
type Output<S> = { readonly [K in keyof S]: Immutable<OutputOf<S[K]>> }
/** A deeply read-only value. */
export type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T
type NoFields = Record<never, never>

export interface Reference {
  /** The name of the referenced resource, for example `auth-policies`. */
  readonly to: string
  /** A second resource that the id may belong to. */
  readonly orTo?: string
  /** True when the id need not belong to a stored entity. */
  readonly isLoose?: boolean
  /** The effect on a record when the referenced entity is deleted; `clear` removes the id from the field. */
  readonly onDelete: 'restrict' | 'cascade' | 'clear'
  /** The member that shows the entity reference; absent for a hidden reference. */
  readonly show?: string
}

/** The limit of an owner's records of a kind, and the effect of a further record. */
export interface MostPerOwner {
  /** The field that holds the owner's id; it is indexed. */
  readonly owner: string
  readonly limit: keyof Limits
  /** An instant field: a new record ends the record with the earliest instant. Absent if the new record is refused. */
  readonly endsEarliest?: string
}

/** The standard operations of a resource; special operations have rows of their own. */
export type StandardOperation = 'list' | 'get' | 'create' | 'replace' | 'patch' | 'delete'

/**
 * The effect of undoing a change on a field that the engine writes. `decided`: a caller set it by a separate request, and undo restores it
 * after any change. `computed`: it follows from restored fields. `anew`: a secret that is generated again. `bound`: an entity with a value
 * here belongs to a session, and is not restored. `fact`: restored only with a deleted entity.
 */
export type SystemField = 'decided' | 'computed' | 'anew' | 'bound' | 'fact'

export interface ResourceDefinition {
  /** Plural name on the wire and in paths: `service-policies`. */
  readonly name: string
  /** The word in messages: `service policy with id x not found`. */
  readonly singular: string
  /** The name in the stores of deployed controllers, for messages and counts: `servicePolicies`. */
  readonly storeName: string
  /** Fields that a caller writes. An optional field carries its default. */
  readonly writable: Shape
  /** Fields that a caller writes once, at creation. */
  readonly createOnly?: Shape
  /** Further members of a create request, which the record does not store. */
  readonly createRequest?: Shape
  /** Fields that the engine writes. */
  readonly system?: Shape
  /** Members of the wire form that are computed and never stored. */
  readonly derived?: Shape
  /** Stored fields that are never shown. */
  readonly hidden?: readonly string[]
  /** Shown fields that grant access to any holder: the audit trail holds only digests of them, as of hidden texts. */
  readonly secrets?: readonly string[]
  /** Hidden texts without secrets: the audit trail shows them to administrators. */
  readonly plain?: readonly string[]
  /** Fields that the engine writes and that undo does not treat as `fact`. */
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
  /** Filter symbols that differ from the fields: symbol to field, or null to hide a symbol. */
  readonly symbols?: Readonly<Record<string, string | null>>
  /** Filter symbols without a field. Every resource has `isSystem`, false by default. */
  readonly computed?: Readonly<Record<string, ComputedSymbol>>
  /** True when endpoints can create records freely: their tags are small and have no search index. */
  readonly isWrittenByEndpoints?: true
  /** True when only the controller adds records, of any size, and never changes them: no limit applies. */
  readonly isJournal?: true
  /** The limit of an owner's records. */
  readonly mostPerOwner?: MostPerOwner
  /** JSON fields that the engine searches, in addition to fields that a filter may name. */
  readonly searchedInside?: readonly string[]
  /** The word of the delegated permissions: `service-policy`, so `service-policy.read`. */
  readonly permission: string
  readonly operations: readonly StandardOperation[]
  /** Exceptions of its wire forms from the rules above. */
  readonly quirks?: Quirks
  /** Errors of create, replace and patch in addition to those of every resource. */
  readonly writeErrors?: readonly ErrorCode[]
  /** Standard operations that no delegated permission allows. */
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

/** The fields of requests and answers, which need a description. */
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
/** A validated patch request: only the sent members. */
export type PatchOf<R> = Partial<ReplaceOf<R>>
/** The fields of a record that only the engine writes. */
export type SystemOf<R> = R extends { readonly definition: infer D } ? Output<ShapeOf<D, 'system'>> : never

/** A resource: its declaration, and everything derived from it. */
export interface Resource<D extends ResourceDefinition = ResourceDefinition> extends RecordKind<Stored<D>> {
  readonly definition: D
  /** Bodies of create, replace and patch, in the words of the wire. */
  readonly create: z.ZodObject
  readonly replace: z.ZodObject
  readonly patch: z.ZodObject
  /** The initial value of each field. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** The wire form of one entity. */
  readonly detail: z.ZodObject
  /** Symbols that a filter may name. */
  readonly symbols: SymbolTable
  /** The symbols without a field. */
  readonly computed: Readonly<Record<string, ComputedSymbol>>
}
