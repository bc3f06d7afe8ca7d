import type { WriteTransaction } from '../../ports/storage.ts'
import type { CreateOf, RecordOf, Resource, SystemOf } from '../../resources/resource.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'

/** What a resource adds to a create request before the transaction opens: slow work such as signing belongs here. */
export interface Preparation<R> {
  readonly system: SystemOf<R>
  /** Writes the records that come into being with the entity. */
  readonly dependents?: (tx: WriteTransaction) => Promise<void>
}

/** A change that is about to be written. */
export type PendingChange<R> =
  | { readonly kind: 'create'; readonly before?: undefined; readonly after: RecordOf<R> }
  | { readonly kind: 'update'; readonly before: RecordOf<R>; readonly after: RecordOf<R> }
  | { readonly kind: 'delete'; readonly before: RecordOf<R>; readonly after?: undefined }

/** The two places where a resource may differ from the generic rules. What needs a third gets a service of its own. */
export interface ResourceHooks<R extends Resource> {
  prepareCreate?(
    context: EngineContext,
    call: Call,
    request: { readonly id: string; readonly input: CreateOf<R>; readonly now: number },
  ): Promise<Preparation<R>>
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
}
