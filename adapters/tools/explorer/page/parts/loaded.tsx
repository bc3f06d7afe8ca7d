import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { listed } from '../../../../../src/base/text.ts'
import { REFUSED } from '../api/problem-text.ts'
import type { Answer } from './use-answer.ts'

interface Props<T> {
  readonly answer: Answer<T>
  /** The sentence for an answer that is empty. */
  readonly empty?: ComponentChildren
  readonly isEmpty?: (data: T) => boolean
  /** Whether it is read again and again: the shown answer then does not fade each time. */
  readonly isQuiet?: boolean
  readonly children: (data: T) => ComponentChildren
}

/** An answer in its place: a line while it is on its way, the problem with a way to ask again, or its content. */
export function Loaded<T>({ answer, empty = 'None.', isEmpty, isQuiet = false, children }: Props<T>) {
  if (answer.problem !== undefined) return <Problem of={answer} />
  const data = answer.data ?? answer.earlier
  if (data === undefined) return <p class="skeleton">Reading…</p>
  if (isEmpty?.(data)) return <p class="muted">{empty}</p>
  return (
    <div class="loaded" aria-busy={!isQuiet && answer.data === undefined}>
      {children(data)}
    </div>
  )
}

/** Why an answer is not there, with a way to ask again; nothing without a problem. */
export function Problem({ of: { problem, reload } }: { of: Pick<Answer<unknown>, 'problem' | 'reload'> }) {
  if (problem === undefined) return null
  // Asking again helps nobody without the right.
  if (problem.startsWith(REFUSED)) return <Refused problem={problem} />
  return (
    <p class="problem" role="alert">
      {problem}{' '}
      <button type="button" onClick={reload}>
        Try again
      </button>
    </p>
  )
}

/** The parts in sight that the user may not read, with the permission of each; an empty text where the controller names none. */
const LACKED = signal<readonly { readonly permission: string }[]>([])

/** A part that the user may not read. On a page of several parts it gives way to one sentence for all of them. */
function Refused({ problem }: { problem: string }) {
  const [permission = ''] = / (\S+\.\w+)\.$/.exec(problem)?.slice(1) ?? []
  useEffect(() => {
    const own = { permission }
    LACKED.value = [...LACKED.value, own]
    return () => {
      LACKED.value = LACKED.value.filter((one) => one !== own)
    }
  }, [permission])
  return <p class="muted refused">{problem}</p>
}

/** Names the permissions of the parts of a page that are not shown. */
export function NotShown() {
  const lacked = [...new Set(LACKED.value.map(({ permission }) => permission))].filter((one) => one !== '').sort()
  if (LACKED.value.length === 0) return null
  return (
    <p class="muted">
      {lacked.length === 0 ? 'Parts that you may not read' : `Parts that take ${listed(lacked)}`} are not shown.
    </p>
  )
}
