import { z } from 'zod'

/** An entity that an event is about; its name is null where the reader may not see it, or nobody has it any more. */
export interface EventEntity {
  readonly id: string
  readonly name: string | null
}

/** Something that happened. */
export interface TimelineEvent {
  /** By which a reader asks for what came later. */
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
  /** The actor, where that is another one than the identity. */
  readonly author?: EventEntity | undefined
  /** Further facts of the event, by the name that the event gives each. */
  readonly facts: Readonly<Record<string, unknown>>
  /** The event as a sentence. */
  readonly text: string
}

/** The events after an instant, as far as they are remembered. */
export interface Timeline {
  /** Oldest first. */
  readonly events: readonly TimelineEvent[]
  /** By which later events are asked for. */
  readonly next: string
  /** True when events before the first of these are forgotten that the reader did not see. */
  readonly isCut: boolean
}

/** Which part of the timeline is wanted: what came after an event, and how many of it at most. */
export const TimelineRequest = z.object({
  after: z.string().max(128).optional(),
  limit: z.int().min(1).max(1000).default(200),
})
