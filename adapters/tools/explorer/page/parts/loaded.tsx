import type { ComponentChildren } from 'preact'
import { REFUSED } from '../api/problem-text.ts'
import { Refused } from './not-shown.tsx'
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
