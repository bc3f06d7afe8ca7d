import type { AccessIndex } from './access-index.ts'
import type { IndexedEntity, IndexedPolicy } from './kinds.ts'

/** An entity or policy before and after a change of the index; absent where it does not exist. */
export type IndexChange =
  | {
      readonly kind: 'identities' | 'services'
      readonly id: string
      readonly before: IndexedEntity | undefined
      readonly after: IndexedEntity | undefined
    }
  | {
      readonly kind: 'service-policies'
      readonly id: string
      readonly before: IndexedPolicy | undefined
      readonly after: IndexedPolicy | undefined
    }

/**
 * Applies the changes to the index, one step for each. Entities are put before any entity is removed, so that no entity takes the slot of
 * another: audiences from before and after the changes stay comparable.
 */
export function* applying(index: AccessIndex, changes: readonly IndexChange[]): Generator<void, void> {
  for (const change of changes) yield put(index, change, 'after')
  for (const change of changes) if (change.after === undefined) yield remove(index, change)
}

/** Reverts the changes, one step for each. Removed entities return first, to the slots that were freed last. */
export function* reverting(index: AccessIndex, changes: readonly IndexChange[]): Generator<void, void> {
  const backwards = changes.toReversed()
  for (const change of backwards) if (change.after === undefined) yield put(index, change, 'before')
  for (const change of backwards) {
    if (change.before === undefined) yield remove(index, change)
    else if (change.after !== undefined) yield put(index, change, 'before')
  }
}

/** Takes all steps of {@link applying} at once. */
export function apply(index: AccessIndex, changes: readonly IndexChange[]): void {
  Array.from(applying(index, changes))
}

/** Takes all steps of {@link reverting} at once. */
export function revert(index: AccessIndex, changes: readonly IndexChange[]): void {
  Array.from(reverting(index, changes))
}

function put(index: AccessIndex, change: IndexChange, side: 'before' | 'after'): void {
  if (change.kind === 'service-policies') {
    if (change[side] !== undefined) index.putPolicy(change.kind, change[side])
  } else if (change[side] !== undefined) index.putEntity(change.kind, change[side])
}

function remove(index: AccessIndex, { kind, id }: IndexChange): void {
  if (kind === 'service-policies') index.removePolicy(kind, id)
  else index.removeEntity(kind, id)
}
