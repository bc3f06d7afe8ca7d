import { useEffect, useRef, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import { FIRST_WAIT_MS, followEvents, LONGEST_WAIT_MS, type StreamState } from './event-stream.ts'
import type { NetworkEvent, Timeline } from './network-event.ts'
import { pause } from './pause.ts'
import { readEvent, readTimeline } from './read-timeline.ts'

/** How many events a page keeps. */
const MOST_KEPT = 3000

/** Milliseconds between two drawings of new events: a burst of events is one drawing. */
const SHOWN_EVERY_MS = 200

export interface LiveEvents extends StreamState {
  /** Oldest first. */
  readonly events: readonly NetworkEvent[]
  /** When something was heard last, RFC 3339; undefined before the first time. */
  readonly heardAt: string | undefined
}

/** Reads recent events, and from then on follows new ones, also after the controller was away. */
export function useEvents(apis: Apis): LiveEvents {
  const [live, setLive] = useState<LiveEvents>({ events: [], isOpen: false, problem: undefined, heardAt: undefined })
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
    const onState = (state: StreamState) =>
      setLive((before) => ({ ...before, ...state, heardAt: state.isOpen ? new Date().toISOString() : before.heardAt }))
    const follow = async () => {
      const { events, next } = await readPatiently(apis, onState, signal)
      setLive((before) => ({ ...before, events }))
      for await (const message of followEvents(apis, next, onState, signal)) {
        const event = message.event === 'cut' ? missingEvents() : readEvent(message.data)
        if (event) waiting.current.push(event)
      }
    }
    // A rejection here means that the user left the view.
    follow().catch(() => undefined)
    return () => {
      clearInterval(timer)
      asked.abort()
    }
  }, [apis])
  return live
}

/** Reads recent events; while they are not available, it shows the reason and asks again. */
async function readPatiently(
  apis: Apis,
  onState: (state: StreamState) => void,
  signal: AbortSignal,
): Promise<Timeline> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
    try {
      return await readTimeline(apis, signal)
    } catch (error) {
      signal.throwIfAborted()
      onState({ isOpen: false, problem: problemText(error) })
    }
    await pause(wait, signal)
    signal.throwIfAborted()
  }
}

/** The event that the page shows for events that the controller forgot before it sent them. */
function missingEvents(): NetworkEvent {
  const at = new Date().toISOString()
  return {
    id: `missing ${at}`,
    at,
    type: 'events.missing',
    facts: {},
    text: 'Events before this are missing: more happened than is remembered.',
  }
}
