import { useEffect, useState } from 'preact/hooks'
import { problemText } from '../api/problem-text.ts'

/** An answer that was asked for, as far as it is there. The answer before stays visible while a new one is on its way. */
export interface Answer<T> {
  readonly data: T | undefined
  readonly problem: string | undefined
  readonly isLoading: boolean
  /** Asks again. */
  readonly reload: () => void
}

/** Asks once, and again when one of `reasons` changes; a question that is not wanted any more is given up. */
export function useAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T> | undefined,
  reasons: readonly unknown[],
): Answer<T> {
  const [known, setKnown] = useState<{ data?: T; problem?: string; isLoading: boolean }>({ isLoading: true })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const asked = new AbortController()
    const answer = ask(asked.signal)
    setKnown(({ data }) => ({ ...(data !== undefined && { data }), isLoading: answer !== undefined }))
    answer?.then(
      (data) => asked.signal.aborted || setKnown({ data, isLoading: false }),
      (error: unknown) => asked.signal.aborted || setKnown({ problem: problemText(error), isLoading: false }),
    )
    return () => asked.abort()
  }, [...reasons, round])
  return {
    data: known.data,
    problem: known.problem,
    isLoading: known.isLoading,
    reload: () => setRound((before) => before + 1),
  }
}
