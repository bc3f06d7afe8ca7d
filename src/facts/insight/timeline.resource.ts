import { z } from 'zod'

/** An entity of an event. Its name is null for a reader who may not see it, and for a deleted entity. */
export interface EventEntity {
  readonly id: string
  readonly name: string | null
}

/** An event of the timeline. */
export interface TimelineEvent {
  /** The position for requests of later events. */
  readonly id: string
  /** For example `session.created`. */
  readonly type: string
  /** RFC 3339. */
  readonly at: string
  readonly identity?: EventEntity | undefined
  readonly service?: EventEntity | undefined
  readonly router?: EventEntity | undefined
  /** The entity that was created, changed or deleted, of the kind in `facts`. */
  readonly entity?: EventEntity | undefined
  /** The actor, if it is not the identity itself. */
  readonly author?: EventEntity | undefined
  /** Further facts of the event, by name. */
  readonly facts: Readonly<Record<string, unknown>>
  /** The event as a sentence. */
  readonly text: string
}

/** The remembered events after a position. */
export interface Timeline {
  /** Oldest first. */
  readonly events: readonly TimelineEvent[]
  /** The position for a request of later events. */
  readonly next: string
  /** True when earlier events that the reader did not see have been dropped. */
  readonly isCut: boolean
}

/** A request for the timeline: the events after an event, and their greatest number. */
export const TimelineRequest = z.object({
  after: z.string().max(128).optional(),
  limit: z.int().min(1).max(1000).default(200),
})
