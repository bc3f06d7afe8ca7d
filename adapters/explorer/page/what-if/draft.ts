import { signal } from '@preact/signals'
import { forgetAtLogOut } from '../session/session.ts'
import type { Change } from './change.ts'

/** The changes that are tried, in the order in which they would be made. They stay while somebody looks at other views. */
export const draft = signal<readonly Change[]>([])

forgetAtLogOut(() => {
  draft.value = []
})

/** Adds a change; one of the same entity is replaced, because it says the whole of it. */
export function put(change: Change): void {
  const others = draft.value.filter((other) => keyOf(other) !== keyOf(change))
  const place = draft.value.findIndex((other) => keyOf(other) === keyOf(change))
  draft.value = place < 0 ? [...others, change] : draft.value.with(place, change)
}

export function drop(change: Change): void {
  draft.value = draft.value.filter((other) => other !== change)
}

/** By what a change is known: the entity that it is about. */
export function keyOf(change: Change): string {
  if (change.kind === 'group') return `group ${change.holders} ${change.roleAttribute}`
  return change.action === 'create' ? `new ${change.number}` : `${change.kind} ${change.id}`
}
