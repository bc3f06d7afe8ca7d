import { useEffect, useState } from 'preact/hooks'
import { problemText } from '../api/problem-text.ts'

/** An answer that was asked for, as far as it is there. */
export interface Answer<T> {
  /** The answer to the present question; undefined until it is there, and never the answer to another question. */
  readonly data: T | undefined
  /** The answer to the question before. It may stay in sight, marked as busy, until the new answer is there. */
  readonly earlier: T | undefined
  readonly problem: string | undefined
  readonly isLoading: boolean
  /** Asks again. */
  readonly reload: () => void
}

interface Known<T> {
  /** The reasons by which it was asked. */
  readonly of: readonly unknown[]
  readonly data?: T
  readonly problem?: string
}

/** Asks once, and again when one of `reasons` changes; an outdated question is given up. */
export function useAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T> | undefined,
  reasons: readonly unknown[],
): Answer<T> {
  const [known, setKnown] = useState<Known<T>>()
  const [isAsking, setAsking] = useState(true)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const asked = new AbortController()
    const answer = ask(asked.signal)
    setAsking(answer !== undefined)
    const settle = (settled: Known<T>) => {
      if (asked.signal.aborted) return
      setKnown(settled)
      setAsking(false)
    }
    answer?.then(
      (data) => settle({ of: reasons, data }),
      (error: unknown) => settle({ of: reasons, problem: problemText(error) }),
    )
    return () => asked.abort()
  }, [...reasons, round])
  const isOfNow = known !== undefined && areSame(known.of, reasons)
  return {
    data: isOfNow ? known.data : undefined,
    earlier: known?.data,
    problem: isOfNow ? known.problem : undefined,
    isLoading: isAsking,
    reload: () => setRound((before) => before + 1),
  }
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, place) => Object.is(one, others[place]))
}
