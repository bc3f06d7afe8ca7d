import type { Apis } from '../api/apis.ts'
import type { NetworkEvent, Timeline } from './network-event.ts'

/** Reads recent events. Rejects when the controller refuses them. */
export async function readTimeline({ portcullis }: Apis, signal: AbortSignal): Promise<Timeline> {
  return (await portcullis.call('GET /events', { query: { limit: '1000' }, signal })).data
}

/** Reads an event of a stream; undefined for any other JSON. */
export function readEvent(text: string): NetworkEvent | undefined {
  const value: unknown = JSON.parse(text)
  // The controller that served the page sends events in one form, in streams and in answers.
  return typeof value === 'object' && value !== null && 'type' in value ? (value as NetworkEvent) : undefined
}
