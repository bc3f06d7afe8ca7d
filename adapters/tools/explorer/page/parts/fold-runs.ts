/** Events that are alike and follow each other. */
export interface Run<T> {
  readonly first: T
  readonly last: T
  /** In the order in which they were given. */
  readonly events: readonly T[]
}

/**
 * Joins entries with the same text that follow each other, with at most `between` other runs between them: a session that ends and a refusal
 * alternate for hours. A run stands where its last entry was.
 */
export function foldRuns<T>(events: readonly T[], sayingOf: (event: T) => string, between = 0): readonly Run<T>[] {
  const runs: { first: T; last: T; events: T[]; saying: string }[] = []
  for (const event of events) {
    const saying = sayingOf(event)
    const at = runs.findLastIndex((run, place) => place >= runs.length - 1 - between && run.saying === saying)
    const [run] = at < 0 ? [] : runs.splice(at, 1)
    if (run === undefined) {
      runs.push({ first: event, last: event, events: [event], saying })
      continue
    }
    run.last = event
    run.events.push(event)
    runs.push(run)
  }
  return runs
}
