import type { NetworkEvent } from './network-event.ts'

/** Events of one kind that followed each other. */
export interface Run {
  readonly first: NetworkEvent
  readonly last: NetworkEvent
  /** Oldest first. */
  readonly events: readonly NetworkEvent[]
}

/** Joins events that say the same of one author or identity, with nothing between them. */
export function foldRuns(events: readonly NetworkEvent[]): readonly Run[] {
  const runs: { first: NetworkEvent; last: NetworkEvent; events: NetworkEvent[] }[] = []
  for (const event of events) {
    const run = runs.at(-1)
    if (run !== undefined && likeness(run.last) === likeness(event)) {
      run.last = event
      run.events.push(event)
    } else runs.push({ first: event, last: event, events: [event] })
  }
  return runs
}

function likeness({ type, author, identity, facts }: NetworkEvent): string {
  return JSON.stringify([type, author?.id, identity?.id, facts.operation, facts.kind, facts.reason, facts.change])
}
