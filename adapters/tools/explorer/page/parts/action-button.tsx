import { useState } from 'preact/hooks'
import { ActionProblem } from './action-problem.tsx'
import { useAction } from './use-action.ts'

interface Props {
  readonly label: string
  /** The question that is asked before it is done, for an action that cannot be taken back. */
  readonly question?: string | undefined
  /** The announcement of its success; absent where the act announces its own. */
  readonly done?: string
  readonly act: () => Promise<unknown>
  /** The words of assent, where they say more than Yes. */
  readonly yes?: string
  /** Whether it is the main act of its view, which takes nothing away. */
  readonly isPrimary?: boolean
  readonly isDisabled?: boolean
  readonly onDone?: () => void
}

/** A button for an action at the controller: it asks first where it has a question, and says why the controller refuses. */
export function ActionButton({
  label,
  question,
  done,
  act,
  yes = 'Yes',
  isPrimary = false,
  isDisabled = false,
  onDone,
}: Props) {
  const [isAsking, setAsking] = useState(false)
  const { isBusy, problem, run } = useAction()
  const tone = isPrimary ? 'primary' : 'danger'
  const begin = async () => {
    setAsking(false)
    if (await run(done, act)) onDone?.()
  }
  return (
    <>
      {isAsking ? (
        <span class="sure">
          {question}
          <button type="button" class={tone} onClick={begin}>
            {yes}
          </button>
          <button type="button" onClick={() => setAsking(false)}>
            No
          </button>
        </span>
      ) : (
        <button
          type="button"
          class={question && tone}
          disabled={isBusy || isDisabled}
          onClick={question === undefined ? begin : () => setAsking(true)}
        >
          {label}
        </button>
      )}
      <ActionProblem of={problem} />
    </>
  )
}
