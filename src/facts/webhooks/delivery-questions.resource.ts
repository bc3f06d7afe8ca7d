import { z } from 'zod'

/** An event that could not be delivered at once. */
export interface UndeliveredEvent {
  /** The id of its audit record. */
  readonly event: string
  /** Attempts that failed. */
  readonly attempts: number
  /** When the next one is made, RFC 3339; null for a dead letter. */
  readonly dueAt: string | null
  readonly problem: string | null
}

/** The deliveries of a webhook. */
export interface DeliveryReport {
  readonly delivered: number
  /** RFC 3339; null before the first. */
  readonly deliveredAt: string | null
  /** Since when attempts fail, RFC 3339; null where the last one did not. */
  readonly failingSince: string | null
  readonly problem: string | null
  /** The id of the last audit record that was removed before it could be delivered. */
  readonly missedTo: string | null
  readonly waitingCount: number
  readonly deadCount: number
  readonly waiting: readonly UndeliveredEvent[]
  readonly dead: readonly UndeliveredEvent[]
}

/** Which dead letters are meant. */
export interface DeliverySelectionRequest {
  /** The ids of their audit records, at most 1,000; all of them where it is absent. */
  readonly events?: readonly string[] | undefined
}

/** The schema of the selection. */
export const DeliverySelection = z.object({ events: z.array(z.string().max(64)).max(1000).optional() })
