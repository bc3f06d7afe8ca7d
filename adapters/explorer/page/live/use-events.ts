import { useEffect, useRef, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import { followEvents } from './event-stream.ts'
import type { NetworkEvent } from './network-event.ts'
import { readEvent, readTimeline } from './read-timeline.ts'

/** How many events a page keeps. */
const MOST_KEPT = 3000

/** How often what came is shown, in milliseconds: a burst of events is one picture. */
const SHOWN_EVERY_MS = 200

export interface LiveEvents {
  /** Oldest first. */
  readonly events: readonly NetworkEvent[]
  readonly isOpen: boolean
  readonly problem: string | undefined
}

/** Reads recent events, and from then on follows new ones. */
export function useEvents(apis: Apis): LiveEvents {
  const [live, setLive] = useState<LiveEvents>({ events: [], isOpen: false, problem: undefined })
  const waiting = useRef<NetworkEvent[]>([])
  useEffect(() => {
    const asked = new AbortController()
    const { signal } = asked
    const show = () => {
      if (waiting.current.length === 0) return
      const came = waiting.current
      waiting.current = []
      setLive((before) => ({ ...before, events: [...before.events, ...came].slice(-MOST_KEPT) }))
    }
    const timer = setInterval(show, SHOWN_EVERY_MS)
    const follow = async () => {
      const { events, next } = await readTimeline(apis, signal)
      setLive((before) => ({ ...before, events }))
      const onState = (isOpen: boolean) => setLive((before) => ({ ...before, isOpen }))
      for await (const message of followEvents(apis, next, onState, signal)) {
        const event = readEvent(message.data)
        if (event) waiting.current.push(event)
      }
    }
    follow().catch((error: unknown) => {
      if (!signal.aborted) setLive((before) => ({ ...before, problem: problemText(error) }))
    })
    return () => {
      clearInterval(timer)
      asked.abort()
    }
  }, [apis])
  return live
}
