import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { CreateOf, PatchOf, RecordOf, ReplaceOf, Resource, SystemOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { DeriveMembers } from './render.ts'
import type { MORE, WriteBatch } from './write-batches.ts'

/** The fields that no request sets, as they were before the change that is taken back. */
export type Restored<R> = Partial<SystemOf<R>>

/** A validated request before its transaction opens; `now` is epoch milliseconds. */
export type PendingRequest<R> = { readonly id: string; readonly now: number } & (
  | { readonly kind: 'create'; readonly input: CreateOf<R>; readonly restored?: Restored<R> | undefined }
  | { readonly kind: 'replace'; readonly input: ReplaceOf<R> }
  | { readonly kind: 'patch'; readonly input: PatchOf<R> }
)

/** A prepared request. */
export interface Preparation<R> {
  /** Fields that only the engine writes. The others keep their value; of a new record they are empty. */
  readonly system?: Partial<SystemOf<R>>
  /** Writes the records that begin with the entity, after it, in the same transaction. */
  readonly dependents?: (tx: WriteTransaction) => Promise<void>
}

/** A change that is about to be written. */
export type PendingChange<R> =
  | {
      readonly kind: 'create'
      readonly before?: undefined
      readonly after: RecordOf<R>
      readonly restored?: Restored<R> | undefined
    }
  | {
      readonly kind: 'update'
      readonly before: RecordOf<R>
      readonly after: RecordOf<R>
      readonly restored?: Restored<R> | undefined
    }
  | { readonly kind: 'delete'; readonly before: RecordOf<R>; readonly after?: undefined }

/**
 * The particular rules of a resource, in one value: it stands beside the rules that follow from the declaration. A resource
 * that is like all others has none.
 */
export interface Behaviour<R extends Resource> {
  readonly resource: R
  /**
   * Does slow work (parsing certificates, signing, compiling schemas) for a request, before its transaction opens, and
   * refuses what can be refused without one. Throws a ControllerError to refuse.
   */
  prepare?(context: EngineContext, call: Call, request: PendingRequest<R>): Promise<Preparation<R> | undefined>
  /**
   * Judges a change inside its transaction, writes what depends on it, and answers the record to store (the one given,
   * or a normalised one). Throws a ControllerError to refuse; nothing is written then.
   */
  guard?(
    context: EngineContext,
    tx: WriteTransaction,
    call: Call,
    change: PendingChange<R>,
  ): Promise<RecordOf<R> | undefined>
  /**
   * Takes away what cannot be there any more once a change is made, as far as a batch goes: the change comes with the last
   * batch. It was judged to be one that may be made.
   */
  beforeWrite?(
    tx: WriteTransaction,
    change: Exclude<PendingChange<R>, { readonly kind: 'create' }>,
    batch: WriteBatch,
  ): Promise<undefined | typeof MORE>
  /** The members of the wire form that no field holds. */
  readonly members?: DeriveMembers<R>
}

/** Finds what is special about a resource. */
export type BehaviourOf = <R extends Resource>(resource: R) => Behaviour<R>
