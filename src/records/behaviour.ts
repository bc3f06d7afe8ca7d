import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { CreateOf, PatchOf, RecordOf, ReplaceOf, Resource, SystemOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { DeriveMembers } from './render.ts'
import type { MORE, WriteBatch } from './write-batches.ts'

/** The fields that no request sets, with their values before the change that is undone. */
export type Restored<R> = Partial<SystemOf<R>>

/** A validated request whose transaction is not open yet; `now` is epoch milliseconds. */
export type PendingRequest<R> = { readonly id: string; readonly now: number } & (
  | { readonly kind: 'create'; readonly input: CreateOf<R>; readonly restored?: Restored<R> | undefined }
  | { readonly kind: 'replace'; readonly input: ReplaceOf<R> }
  | { readonly kind: 'patch'; readonly input: PatchOf<R> }
)

/** A prepared request. */
export interface Preparation<R> {
  /** Fields that only the engine writes. Other such fields keep their values; in a new record they are empty. */
  readonly system?: Partial<SystemOf<R>>
  /** Writes the records that are created with the entity, after it and in the same transaction. */
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

/** The particular rules of a resource, in addition to the rules of its declaration. Most resources have none. */
export interface Behaviour<R extends Resource> {
  readonly resource: R
  /**
   * Does slow work (parsing certificates, signing, compiling schemas) for a request before its transaction opens, and makes all checks that
   * need no transaction. Throws a ControllerError to refuse.
   */
  prepare?(context: EngineContext, call: Call, request: PendingRequest<R>): Promise<Preparation<R> | undefined>
  /**
   * Judges a change inside its transaction, writes dependent records, and answers the record to store (as given, or normalised). Throws a
   * ControllerError to refuse; nothing is written then.
   */
  guard?(
    context: EngineContext,
    tx: WriteTransaction,
    call: Call,
    change: PendingChange<R>,
  ): Promise<RecordOf<R> | undefined>
  /**
   * Removes records that cannot outlive a change, up to the end of the batch. The change itself comes with the last batch; it has been
   * judged already.
   */
  beforeWrite?(
    tx: WriteTransaction,
    change: Exclude<PendingChange<R>, { readonly kind: 'create' }>,
    batch: WriteBatch,
  ): Promise<undefined | typeof MORE>
  /** The members of the wire form without a field. */
  readonly members?: DeriveMembers<R>
}

/** Finds the particular rules of a resource. */
export type BehaviourOf = <R extends Resource>(resource: R) => Behaviour<R>
