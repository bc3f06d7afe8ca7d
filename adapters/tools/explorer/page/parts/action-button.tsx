import { useState } from 'preact/hooks'
import { ActionProblem } from './action-problem.tsx'
import { useAction } from './use-action.ts'

interface Props {
  readonly label: string
  /** The question that is asked before it is done, for an action that cannot be taken back. */
  readonly question?: string | undefined
  /** The announcement of its success. */
  readonly done: string
  readonly act: () => Promise<unknown>
  readonly onDone?: () => void
}

/** A button for an action at the controller: it asks first where it has a question, and says why the controller refuses. */
export function ActionButton({ label, question, done, act, onDone }: Props) {
  const [isAsking, setAsking] = useState(false)
  const { isBusy, problem, run } = useAction()
  const begin = async () => {
    setAsking(false)
    if (await run(done, act)) onDone?.()
  }
  return (
    <>
      {isAsking ? (
        <span class="sure">
          {question}
          <button type="button" class="danger" onClick={begin}>
            Yes
          </button>
          <button type="button" onClick={() => setAsking(false)}>
            No
          </button>
        </span>
      ) : (
        <button
          type="button"
          class={question && 'danger'}
          disabled={isBusy}
          onClick={question === undefined ? begin : () => setAsking(true)}
        >
          {label}
        </button>
      )}
      <ActionProblem of={problem} />
    </>
  )
}
