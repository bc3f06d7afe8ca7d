import { effect, signal } from '@preact/signals'
import type { Apis } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import { hasJustWritten, type OpenSession, session } from '../session/session.ts'
import { followEvents, type StreamState } from './event-stream.ts'
import { type NetworkEvent, readEvent } from './network-event.ts'

/** News of the network: an event, that events are missing, or that the stream was away and everything may have changed. */
export type News = NetworkEvent | 'cut' | 'again'

interface LiveState extends StreamState {
  /** When something was heard last, RFC 3339; undefined before the first time. */
  readonly heardAt: string | undefined
}

const CLOSED: LiveState = { isOpen: false, problem: undefined, heardAt: undefined }

/** How the one stream of events of the page stands. */
export const liveState = signal<LiveState>(CLOSED)

/** Milliseconds that a page may be hidden before it gives its stream up: browsers open few connections to a host. */
const HIDDEN_MS = 5000

const LISTENERS = new Set<(news: News) => void>()

/** Calls `listener` with the news of the page's stream until the answered function is called. */
export function onNews(listener: (news: News) => void): () => void {
  LISTENERS.add(listener)
  return () => LISTENERS.delete(listener)
}

/** The last change of somebody else that changed what is in sight. */
export const othersChange = signal<NetworkEvent | undefined>(undefined)

/** Reports whether an event is a change that was not made in this page. */
export function isOthers({ type, author }: NetworkEvent): boolean {
  if (type !== 'entity.changed' || author === undefined) return false
  return author.id !== session.peek()?.id || !hasJustWritten()
}

let hasMissed = false

function report(news: News): void {
  if (document.hidden) hasMissed = true
  for (const listener of LISTENERS) listener(news)
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden || !hasMissed) return
  hasMissed = false
  report('again')
})

// Before the views of a new session ask for anything, so that no change falls between their answers and the stream.
effect(() => {
  const open = session.value
  if (open === undefined || !mayHear(open)) return
  const ended = new AbortController()
  void follow(open.apis, ended.signal)
  return () => {
    ended.abort()
    liveState.value = CLOSED
  }
})

/** Reports whether the controller sends events to an identity: it does to administrators, and to identities with a permission. */
function mayHear({ isAdmin, permissions }: OpenSession): boolean {
  return isAdmin || permissions.length > 0
}

/** Follows the events of the controller, with pauses while the page is hidden. */
async function follow(apis: Apis, signal: AbortSignal): Promise<void> {
  let last: string | undefined
  let wasAway = false
  const onState = (state: StreamState) => {
    if (signal.aborted) return
    const { heardAt } = liveState.peek()
    liveState.value = { ...state, heardAt: state.isOpen ? new Date().toISOString() : heardAt }
    if (state.isOpen && wasAway) report('again')
    wasAway = !state.isOpen
  }
  last = await placeNow(apis, signal, onState)
  while (!signal.aborted) {
    await untilSeen(signal)
    const seen = whileSeen(signal)
    for await (const message of followEvents(apis, last, onState, seen)) {
      last = message.id ?? last
      const news = message.event === 'cut' ? 'cut' : readEvent(message.data)
      if (news !== undefined) report(news)
    }
  }
}

/** The place in the events from which on they are followed; undefined where it is not known. */
async function placeNow(
  { portcullis }: Apis,
  signal: AbortSignal,
  onState: (state: StreamState) => void,
): Promise<string | undefined> {
  try {
    return (await portcullis.call('GET /events', { query: { limit: '1' }, signal })).data.next
  } catch (error) {
    onState({ isOpen: false, problem: problemText(error) })
    return undefined
  }
}

/** Waits until the page is seen. */
function untilSeen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
    look()
  })
}

/** A signal that is aborted with `signal`, or after the page was hidden for a while. */
function whileSeen(signal: AbortSignal): AbortSignal {
  const given = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(timer)
    if (document.hidden) timer = setTimeout(() => given.abort(), HIDDEN_MS)
  }
  const end = () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
    given.abort()
  }
  given.signal.addEventListener('abort', end, { once: true })
  document.addEventListener('visibilitychange', look)
  signal.addEventListener('abort', end, { once: true, signal: given.signal })
  look()
  return given.signal
}
