import type { Apis } from '../api/apis.ts'
import type { NetworkEvent } from './network-event.ts'

/** What happened lately, the oldest first. */
export async function readTimeline({ send }: Apis, signal: AbortSignal): Promise<readonly NetworkEvent[]> {
  const response = await send(new Request(`${location.origin}/portcullis/v1/events`, { signal }))
  if (!response.ok) throw new Error(`The events were refused with ${response.status}.`)
  const answer = (await response.json()) as { data: readonly NetworkEvent[] }
  return answer.data
}

/** Reads an event of a stream; undefined for what is none. */
export function readEvent(text: string): NetworkEvent | undefined {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null && 'type' in value ? (value as NetworkEvent) : undefined
}
