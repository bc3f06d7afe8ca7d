import { ActionButton, announce } from '../parts/action.tsx'
import { numberText } from '../parts/words.ts'
import { may, useApis } from '../session/session.ts'
import { type Change, countWrites, isWhole } from './change.ts'
import { draft, keyOf } from './draft.ts'
import { type Made, make } from './make.ts'

interface Props {
  readonly changes: readonly Change[]
  /** All of them are made. */
  readonly onMade: (made: Made) => void
}

/** Makes the changes, one after the other. A change that was made leaves the draft, a failed change stays. */
export function Apply({ changes, onMade }: Props) {
  const apis = useApis()
  const apply = async () => {
    const all: Made[] = []
    for (const change of changes) {
      all.push(await make(apis, change))
      draft.value = draft.value.filter((other) => keyOf(other) !== keyOf(change))
    }
    const made = {
      written: all.reduce((sum, { written }) => sum + written, 0),
      open: all.flatMap(({ open }) => open),
    }
    announce(madeText(made))
    onMade(made)
  }
  if (!changes.every(mayMake)) return <p class="muted">You may try this, and not write it.</p>
  const areWhole = changes.every(isWhole)
  const writes = countWrites(changes)
  const these = changes.length === 1 ? 'this change' : `these ${numberText(changes.length)} changes`
  return (
    <>
      <ActionButton
        label="Apply…"
        question={`Write ${these}${writes === changes.length ? '' : ` to ${entities(writes)}`}?`}
        yes="Yes, apply"
        isPrimary
        isDisabled={!areWhole}
        act={apply}
      />
      {!areWhole && <p class="muted">A new policy needs a name before it can be made.</p>}
    </>
  )
}

function entities(count: number): string {
  return count === 1 ? 'one entity' : `${numberText(count)} entities`
}

/** The outcome of an application in words. */
export function madeText({ written }: Made): string {
  return `The changes are made: ${entities(written)} ${written === 1 ? 'was' : 'were'} written.`
}

/** Reports whether the logged in user may write a change. */
function mayMake({ kind, action }: Change): boolean {
  if (kind === 'service-policies') return may('service-policy', action)
  return may(kind === 'services' ? 'service' : 'identity', 'update')
}
