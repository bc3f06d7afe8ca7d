import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Apis } from '../api/apis.ts'
import { controllerUrl } from '../api/controller-url.ts'

/** A message of a stream of events. */
export interface StreamMessage {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string
}

/** How long a lost stream is waited for before it is asked for again, in milliseconds: longer each time. */
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 15_000

/**
 * Messages of the controller's events as they come, from the last one that was seen on. A stream that is lost is opened again
 * where it ended; `onState` hears of both. Ends when `signal` is aborted.
 */
export async function* followEvents(
  { send }: Apis,
  after: string | undefined,
  onState: (isOpen: boolean) => void,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage> {
  let last = after
  let wait = FIRST_WAIT_MS
  while (!signal.aborted) {
    try {
      const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
      const response = await send(new Request(`${controllerUrl()}/portcullis/v1/events`, { headers, signal }))
      if (!response.ok || response.body === null) throw new Error(`the events were refused with ${response.status}`)
      onState(true)
      wait = FIRST_WAIT_MS
      const messages = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
      for await (const { id, event, data } of messages) {
        if (id !== undefined) last = id
        yield { id, event, data }
      }
    } catch {
      if (signal.aborted) return
    }
    onState(false)
    await pause(wait, signal)
    wait = Math.min(LONGEST_WAIT_MS, wait * 2)
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
