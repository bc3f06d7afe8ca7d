import { useEffect, useRef, useState } from 'preact/hooks'
import { isPassing, problemText } from '../api/problem-text.ts'
import { type Concern, isOfNetwork, type NetworkEvent } from '../events/network-event.ts'
import { isOthers, type News, onNews, othersChange } from '../events/network-news.ts'

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

/** Milliseconds between an event and the question that it causes: the events of one change are one question. */
const SETTLED_MS = 100
/** Milliseconds between two questions that events cause; longer where answers take long. */
const PAUSE_MS = 1000
/** Answers that take long are asked for during a quarter of the time at most. */
const PATIENCE = 4
/** Milliseconds until a question is asked again that the controller was too far or too busy to answer. */
const AGAIN_MS = 2500

/**
 * Asks once, and again when one of `reasons` changes; an outdated question is given up. An event that `concerns` the answer has it asked
 * for again at most once a second: what is in sight stays until the new answer is there, and also where the controller is away. A question
 * that was not answered is asked again until it is.
 */
export function useAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T> | undefined,
  reasons: readonly unknown[],
  concerns: Concern = isOfNetwork,
): Answer<T> {
  const [known, setKnown] = useState<Known<T>>()
  const [isAsking, setAsking] = useState(true)
  const [round, setRound] = useState(0)
  const quiet = useQuietQuestions(concerns, () => setRound((before) => before + 1))
  const shown = useRef<Known<T> | undefined>(undefined)
  useEffect(() => {
    const asked = new AbortController()
    const { onSettled, ...began } = quiet.begin()
    const isQuiet = began.isQuiet && shown.current !== undefined && areSame(shown.current.of, reasons)
    const answer = ask(asked.signal)
    if (!isQuiet) setAsking(answer !== undefined)
    const settle = (settled: Known<T> | undefined) => {
      if (asked.signal.aborted) return
      const isChanged = settled !== undefined && !isSameAnswer(shown.current, settled)
      if (isChanged) {
        shown.current = settled
        setKnown(settled)
      }
      setAsking(false)
      onSettled(isChanged)
    }
    if (answer === undefined) onSettled(false)
    answer?.then(
      (data) => settle({ of: reasons, data }),
      (error: unknown) => {
        settle(isQuiet && isPassing(error) ? undefined : { of: reasons, problem: problemText(error) })
        if (isPassing(error) && !asked.signal.aborted) quiet.again()
      },
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

/** Follows the news, and has a question asked again where news concern its answer. */
function useQuietQuestions(concerns: Concern, again: () => void) {
  const state = useRef({ concerns, again, isQuiet: false, isAsked: false, isWanted: false, began: 0, took: 0 })
  state.current.concerns = concerns
  state.current.again = again
  const cause = useRef<NetworkEvent | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const schedule = (pause = PAUSE_MS) => {
    const { isAsked, began, took } = state.current
    // A question that is on its way is not given up: under many changes none would ever be answered.
    state.current.isWanted = isAsked
    if (isAsked || timer.current !== undefined) return
    const rest = began + Math.max(pause, PATIENCE * took) - Date.now()
    timer.current = setTimeout(
      () => {
        timer.current = undefined
        // A hidden page asks nothing.
        if (document.hidden) {
          document.addEventListener('visibilitychange', () => schedule(pause), { once: true })
          return
        }
        state.current.isQuiet = true
        state.current.again()
      },
      Math.max(SETTLED_MS, rest),
    )
  }
  useEffect(() => {
    const stop = onNews((news: News) => {
      const isEvent = typeof news === 'object'
      if (document.hidden || (isEvent && !state.current.concerns(news))) return
      if (isEvent && isOthers(news)) cause.current = news
      schedule()
    })
    return () => {
      stop()
      clearTimeout(timer.current)
    }
  }, [])
  const begin = () => {
    const { isQuiet } = state.current
    const caused = cause.current
    cause.current = undefined
    clearTimeout(timer.current)
    timer.current = undefined
    const began = Date.now()
    Object.assign(state.current, { isQuiet: false, isAsked: true, isWanted: false, began })
    const onSettled = (isChanged: boolean) => {
      Object.assign(state.current, { isAsked: false, took: Date.now() - began })
      if (isChanged && isQuiet && caused) othersChange.value = caused
      if (state.current.isWanted) schedule()
    }
    return { isQuiet, onSettled }
  }
  return { begin, again: () => schedule(AGAIN_MS) }
}

function isSameAnswer(one: Known<unknown> | undefined, other: Known<unknown>): boolean {
  return (
    one !== undefined && areSame(one.of, other.of) && one.problem === other.problem && textOf(one) === textOf(other)
  )
}

function textOf({ data }: Known<unknown>): string {
  return JSON.stringify(data, (_, value: unknown) =>
    value instanceof Set || value instanceof Map ? [...value] : value,
  )
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, place) => Object.is(one, others[place]))
}

/** The pause in typing after which the user waits for an answer, in milliseconds. */
const TYPING_MS = 150

/** A value that changes while the user types, as soon as it has stayed the same for a moment. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
