import type { Apis } from '../api/apis.ts'
import { controllerUrl } from '../api/controller-url.ts'
import type { NetworkEvent } from './network-event.ts'

/** The recent events. */
export interface Timeline {
  /** The oldest first. */
  readonly events: readonly NetworkEvent[]
  /** After which event a stream goes on. */
  readonly next: string
}

/** Reads what happened lately. Rejects where the events are refused. */
export async function readTimeline({ send }: Apis, signal: AbortSignal): Promise<Timeline> {
  const response = await send(new Request(`${controllerUrl()}/portcullis/v1/events`, { signal }))
  if (!response.ok) throw new Error(`The controller refused to tell what happens (${response.status}).`)
  // The controller that served the page answers by the declaration of its row.
  return ((await response.json()) as { readonly data: Timeline }).data
}

/** Reads an event of a stream; undefined for what is none. */
export function readEvent(text: string): NetworkEvent | undefined {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null && 'type' in value ? (value as NetworkEvent) : undefined
}
