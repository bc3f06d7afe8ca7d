import { z } from 'zod'
import type { DeployedEvents, EventTypes } from './deployed-events.ts'

/** A subscription of an operator's program. */
type Subscribed = { readonly problem: string } | { readonly begin: () => void; readonly cancel: () => void }

const MOST_SUBSCRIPTIONS = 64
const Request = z.object({
  format: z.string().catch(''),
  subscriptions: z
    .array(z.object({ type: z.string().max(64), options: z.record(z.string(), z.unknown()).nullish() }))
    .max(MOST_SUBSCRIPTIONS),
})

/**
 * Gives an operator's program the events that it subscribes to, in the form of deployed controllers. Reads a request in JSON; the problem
 * describes an invalid request.
 */
export function subscribeFeed(
  events: DeployedEvents,
  body: string,
  tell: (kind: string, text: string) => void,
): Subscribed {
  const request = readRequest(body)
  if (request === undefined) return { problem: 'the request is no list of subscriptions' }
  if (request.format !== 'json') return { problem: `invalid format ['${request.format}']` }
  const wanted: EventTypes = new Map(request.subscriptions.map(({ type, options }) => [type, options ?? {}]))
  const problem = events.problemOf(wanted)
  if (problem !== undefined) return { problem }
  let isOver = false
  let end: () => void = () => undefined
  const begin = () => {
    // The channel may have closed before its answer was sent.
    if (!isOver) end = events.subscribe(wanted, (event) => tell(event.namespace, JSON.stringify(event)))
  }
  const cancel = () => {
    isOver = true
    end()
  }
  return { begin, cancel }
}

function readRequest(body: string): z.output<typeof Request> | undefined {
  try {
    return Request.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}
