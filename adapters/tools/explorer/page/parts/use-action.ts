import { useState } from 'preact/hooks'
import { problemText } from '../api/problem-text.ts'
import { announce } from './announcements.ts'

/** Something that somebody asked the controller to do. */
export interface Action {
  readonly isBusy: boolean
  readonly problem: string | undefined
  /** Does it, tells that it is done, and answers whether it was. */
  readonly run: (done: string, step: () => Promise<unknown>) => Promise<boolean>
}

/** Keeps what became of the last thing that was asked. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const run = async (done: string, step: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(undefined)
    try {
      await step()
      announce(done)
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
