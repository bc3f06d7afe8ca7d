/** The facts of a generation that say when it signs and how long it is good; instants are epoch milliseconds. */
export interface GenerationTimes {
  readonly id: string
  /** Null while it does not sign. */
  readonly issuesFrom: number | null
  /** Null for as long as its certificates say themselves. */
  readonly goodUntil: number | null
}

/** The part of a generation at an instant: it will sign, it signs, it signed and is still good, or it is over. */
export type GenerationState = 'next' | 'issuing' | 'former' | 'ended'

/** The generation that signs at `now`: the last of those that began to. */
export function issuingAt<T extends GenerationTimes>(generations: readonly T[], now: number): T | undefined {
  let latest: T | undefined
  for (const each of generations) {
    if (each.issuesFrom === null || each.issuesFrom > now) continue
    if (latest === undefined || (latest.issuesFrom ?? 0) <= each.issuesFrom) latest = each
  }
  return latest
}

/** Whether nothing that a generation signed is good any more at `now` (epoch ms). */
export function hasEnded({ goodUntil }: Pick<GenerationTimes, 'goodUntil'>, now: number): boolean {
  return goodUntil !== null && goodUntil < now
}

/** The part that a generation plays at `now`. */
export function stateAt(each: GenerationTimes, generations: readonly GenerationTimes[], now: number): GenerationState {
  if (hasEnded(each, now)) return 'ended'
  if (each.issuesFrom === null || each.issuesFrom > now) return 'next'
  return issuingAt(generations, now)?.id === each.id ? 'issuing' : 'former'
}

/** The next instant after `now` at which a generation begins to sign or ends; undefined where there is none. */
export function nextTurn(generations: readonly GenerationTimes[], now: number): number | undefined {
  const turns = generations
    // An authority that is good until an instant is over just after it.
    .flatMap(({ issuesFrom, goodUntil }) => [issuesFrom, goodUntil === null ? null : goodUntil + 1])
    .filter((instant) => instant !== null)
    .filter((instant) => instant > now)
  return turns.length === 0 ? undefined : Math.min(...turns)
}
