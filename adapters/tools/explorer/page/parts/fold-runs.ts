/** Events that are alike and follow each other, with nothing between. */
export interface Run<T> {
  readonly first: T
  readonly last: T
  /** In the order in which they were given. */
  readonly events: readonly T[]
}

/** Joins consecutive entries with the same text. */
export function foldRuns<T>(events: readonly T[], sayingOf: (event: T) => string): readonly Run<T>[] {
  const runs: { first: T; last: T; events: T[]; saying: string }[] = []
  for (const event of events) {
    const run = runs.at(-1)
    const saying = sayingOf(event)
    if (run !== undefined && run.saying === saying) {
      run.last = event
      run.events.push(event)
    } else runs.push({ first: event, last: event, events: [event], saying })
  }
  return runs
}
