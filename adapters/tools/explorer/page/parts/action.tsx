import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { problemText } from '../api/problem-text.ts'

/** Texts for screen readers, without a word on the screen moving. */
export const announced = signal('')

/** Announces to screen readers a change that is otherwise only visible. */
export function announce(text: string): void {
  announced.value = text
}

/** An action of the user at the controller. */
export interface Action {
  readonly isBusy: boolean
  readonly problem: string | undefined
  /** Runs the action, announces its success, and answers whether it succeeded. */
  readonly run: (done: string | undefined, step: () => Promise<unknown>) => Promise<boolean>
}

/** Keeps the result of the last action. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const run = async (done: string | undefined, step: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(undefined)
    try {
      await step()
      if (done !== undefined) announce(done)
      return true
    } catch (error) {
      setProblem(problemText(error))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, problem, run }
}

/** The problem of an action, which readers of a screen hear at once; nothing without one. */
export function ActionProblem({ of }: { of: string | undefined }) {
  if (of === undefined) return null
  return (
    <p class="problem" role="alert">
      {of}
    </p>
  )
}

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
