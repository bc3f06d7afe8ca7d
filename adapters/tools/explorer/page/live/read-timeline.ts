import type { Apis } from '../api/apis.ts'
import type { NetworkEvent, Timeline } from './network-event.ts'

/** Reads what happened lately. Rejects where the events are refused. */
export async function readTimeline({ portcullis }: Apis, signal: AbortSignal): Promise<Timeline> {
  return (await portcullis.call('GET /events', { query: { limit: '1000' }, signal })).data
}

/** Reads an event of a stream; undefined for what is none. */
export function readEvent(text: string): NetworkEvent | undefined {
  const value: unknown = JSON.parse(text)
  // The controller that served the page tells events in one form, by the stream and by its answer.
  return typeof value === 'object' && value !== null && 'type' in value ? (value as NetworkEvent) : undefined
}
