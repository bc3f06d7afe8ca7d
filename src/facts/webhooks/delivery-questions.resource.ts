import { z } from 'zod'

/** An event that could not be delivered at once. */
export interface UndeliveredEvent {
  /** The id of its audit record. */
  readonly event: string
  /** Failed attempts. */
  readonly attempts: number
  /** The instant of the next attempt, RFC 3339; null for a dead letter. */
  readonly dueAt: string | null
  readonly problem: string | null
}

/** The deliveries of a webhook. */
export interface DeliveryReport {
  readonly delivered: number
  /** RFC 3339; null before the first. */
  readonly deliveredAt: string | null
  /** The beginning of the current failures, RFC 3339; null after a success. */
  readonly failingSince: string | null
  readonly problem: string | null
  /** The id of the last audit record that was removed before it could be delivered. */
  readonly missedTo: string | null
  readonly waitingCount: number
  readonly deadCount: number
  readonly waiting: readonly UndeliveredEvent[]
  readonly dead: readonly UndeliveredEvent[]
}

/** A selection of dead letters. */
export interface DeliverySelectionRequest {
  /** The ids of their audit records, at most 1,000; all dead letters when absent. */
  readonly events?: readonly string[] | undefined
}

/** The schema of the selection. */
export const DeliverySelection = z.object({ events: z.array(z.string().max(64)).max(1000).optional() })
