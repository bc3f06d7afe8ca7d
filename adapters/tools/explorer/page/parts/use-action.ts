import { useState } from 'preact/hooks'
import { problemText } from '../api/problem-text.ts'
import { announce } from './announcements.ts'

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
