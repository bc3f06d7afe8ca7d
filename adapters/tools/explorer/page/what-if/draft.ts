import { effect, signal } from '@preact/signals'
import { controllerUrl } from '../api/apis.ts'
import { place, stay } from '../navigation/place.ts'
import { forgetAtLogOut, session } from '../session/session.ts'
import type { Change, PolicyDraft } from './change.ts'

/** The tried changes, in the order in which they would be made. They stay while the user looks at other views. */
export const draft = signal<readonly Change[]>([])

/** They outlive a reload of the tab, for the session that began them. */
const NAME = `portcullis-explorer-draft ${new URL(controllerUrl()).pathname}`

forgetAtLogOut(() => {
  draft.value = []
  sessionStorage.removeItem(NAME)
  const { view, about } = place.value
  if (about.has('draft')) stay(view, { ...Object.fromEntries(about), draft: undefined })
})

let owner: string | undefined
effect(() => {
  const id = session.value?.id
  if (id === undefined) return
  if (id !== owner) {
    owner = id
    draft.value = keptDraft(id)
  }
  sessionStorage.setItem(NAME, JSON.stringify({ owner: id, changes: draft.value }))
})

function keptDraft(id: string): readonly Change[] {
  // Nothing but this page writes it.
  const kept = JSON.parse(sessionStorage.getItem(NAME) ?? 'null') as {
    readonly owner: string
    readonly changes: readonly Change[]
  } | null
  return kept?.owner === id ? kept.changes : []
}

/** Adds a change. It replaces an earlier change of the same entity, because a change has the whole entity. */
export function put(change: Change): void {
  const others = draft.value.filter((other) => keyOf(other) !== keyOf(change))
  const place = draft.value.findIndex((other) => keyOf(other) === keyOf(change))
  draft.value = place < 0 ? [...others, change] : draft.value.with(place, change)
}

/** Changes members of the policy that a change is about, as it is tried by now. */
export function amendPolicy(change: Change, changed: Partial<PolicyDraft>): void {
  const current = draft.value.find((other) => keyOf(other) === keyOf(change))
  if (current?.kind !== 'service-policies' || current.action === 'delete') return
  put({ ...current, policy: { ...current.policy, ...changed } })
}

export function drop(change: Change): void {
  draft.value = draft.value.filter((other) => other !== change)
}

/** The key of a change: its entity. */
export function keyOf(change: Change): string {
  if (change.kind === 'group') return `group ${change.holders} ${change.roleAttribute}`
  return change.action === 'create' ? `new ${change.number}` : `${change.kind} ${change.id}`
}
