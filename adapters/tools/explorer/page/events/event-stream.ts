import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { type Apis, controllerUrl } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'

/** How a stream of events stands. */
export interface StreamState {
  readonly isOpen: boolean
  /** Why it is not open; undefined while nothing went wrong. */
  readonly problem: string | undefined
}

/** How long a lost stream is waited for before it is asked for again, in milliseconds: longer each time. */
export const FIRST_WAIT_MS = 500
export const LONGEST_WAIT_MS = 15_000

/** A stream that the host refuses is asked for again after this time, in milliseconds. */
const REFUSED_WAIT_MS = 300_000

/** The host of the controller allows no stream. */
class RefusedByHost extends Error {}

/** The controller sends a byte every 15 s at least. A stream that is silent for longer than this, in milliseconds, is dead. */
const SILENCE_MS = 30_000

/**
 * Messages of the controller's events as they come, after the last seen event. A lost or silent stream is opened again where it ended, and
 * `onState` is called. Ends when `signal` is aborted.
 */
export async function* followEvents(
  apis: Apis,
  after: string | undefined,
  onState: (state: StreamState) => void,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  let last = after
  let wait = FIRST_WAIT_MS
  while (!signal.aborted) {
    const began = Date.now()
    let problem = 'The controller ended the stream.'
    try {
      for await (const message of readOnce(apis, last, signal, () => onState({ isOpen: true, problem: undefined }))) {
        last = message.id ?? last
        yield message
      }
    } catch (error) {
      if (signal.aborted) return
      problem = problemText(error)
      if (error instanceof RefusedByHost) wait = REFUSED_WAIT_MS
    }
    if (signal.aborted) return
    onState({ isOpen: false, problem })
    // A stream that ends again and again is one too many of its identity: the pages would end those of each other.
    if (Date.now() - began > LONGEST_WAIT_MS && wait < REFUSED_WAIT_MS) wait = FIRST_WAIT_MS
    await pause(wait, signal)
    wait = Math.min(LONGEST_WAIT_MS, wait * 2)
  }
}

/** The messages of one stream until it ends. Rejects where it is refused, breaks, or stays silent. */
async function* readOnce(
  { send }: Apis,
  after: string | undefined,
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<EventSourceMessage> {
  const given = new AbortController()
  const giveUp = () => given.abort()
  signal.addEventListener('abort', giveUp)
  let heardAt = Date.now()
  const watch = setInterval(() => Date.now() - heardAt > SILENCE_MS && giveUp(), 1000)
  try {
    const headers = { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': after }) }
    const url = `${controllerUrl()}/portcullis/v1/events`
    const response = await send(new Request(url, { headers, signal: given.signal }))
    if (response.status === 403) throw new RefusedByHost('The host of the controller does not allow it.')
    if (!response.ok || response.body === null) throw new Error(`The events were refused (${response.status}).`)
    onOpen()
    const came: EventSourceMessage[] = []
    const parser = createParser({ onEvent: (message) => came.push(message) })
    const decoder = new TextDecoder()
    // By a reader, because streams of WebKit cannot be iterated.
    const reader = response.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heardAt = Date.now()
      parser.feed(decoder.decode(value, { stream: true }))
      yield* came.splice(0)
    }
  } catch (error) {
    if (given.signal.aborted && !signal.aborted)
      throw new Error(`Nothing was heard from the controller for ${SILENCE_MS / 1000} seconds.`)
    throw error
  } finally {
    clearInterval(watch)
    signal.removeEventListener('abort', giveUp)
    giveUp()
  }
}

/** Waits, at most until `signal` is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
