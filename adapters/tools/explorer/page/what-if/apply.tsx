import { useState } from 'preact/hooks'
import { problemText } from '../api/problem-text.ts'
import { ActionProblem } from '../parts/action-problem.tsx'
import { announce } from '../parts/announcements.ts'
import { numberText } from '../parts/number-text.ts'
import { may } from '../session/session.ts'
import { useApis } from '../session/use-apis.ts'
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
  const [isSure, setSure] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const apply = async () => {
    setBusy(true)
    setProblem(undefined)
    const all: Made[] = []
    try {
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
    } catch (error) {
      setProblem(problemText(error))
    }
    setBusy(false)
    setSure(false)
  }
  if (!changes.every(mayMake)) return <p class="muted">You may try this, and not write it.</p>
  const writes = countWrites(changes)
  return (
    <>
      {isSure ? (
        <span class="sure">
          Write {changes.length === 1 ? 'this change' : `these ${numberText(changes.length)} changes`}
          {writes === changes.length ? '' : ` to ${entities(writes)}`}?
          <button type="button" class="primary" disabled={isBusy} onClick={apply}>
            {isBusy ? 'Writing…' : 'Yes, apply'}
          </button>
          <button type="button" disabled={isBusy} onClick={() => setSure(false)}>
            No
          </button>
        </span>
      ) : (
        <button type="button" class="primary" disabled={!changes.every(isWhole)} onClick={() => setSure(true)}>
          Apply…
        </button>
      )}
      {!changes.every(isWhole) && <p class="muted">A new policy needs a name before it can be made.</p>}
      <ActionProblem of={problem} />
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
