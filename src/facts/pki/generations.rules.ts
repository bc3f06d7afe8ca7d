/** The instants at which a generation begins to sign and ceases to be valid, in epoch milliseconds. */
export interface GenerationTimes {
  readonly id: string
  /** Null while it does not sign. */
  readonly issuesFrom: number | null
  /** Null if only the validity of its own certificates counts. */
  readonly goodUntil: number | null
}

/** The state of a generation at an instant: it will sign, it signs, it signed and is still valid, or it has ended. */
export type GenerationState = 'next' | 'issuing' | 'former' | 'ended'

/** The generation that signs at `now`: the last generation that has begun to sign. */
export function issuingAt<T extends GenerationTimes>(generations: readonly T[], now: number): T | undefined {
  let latest: T | undefined
  for (const each of generations) {
    if (each.issuesFrom === null || each.issuesFrom > now) continue
    if (latest === undefined || (latest.issuesFrom ?? 0) <= each.issuesFrom) latest = each
  }
  return latest
}

/** Reports whether all certificates of a generation have become invalid at `now` (epoch ms). */
export function hasEnded({ goodUntil }: Pick<GenerationTimes, 'goodUntil'>, now: number): boolean {
  return goodUntil !== null && goodUntil < now
}

/** The state of a generation at `now`. */
export function stateAt(each: GenerationTimes, generations: readonly GenerationTimes[], now: number): GenerationState {
  if (hasEnded(each, now)) return 'ended'
  if (each.issuesFrom === null || each.issuesFrom > now) return 'next'
  return issuingAt(generations, now)?.id === each.id ? 'issuing' : 'former'
}

/** The next instant after `now` at which a generation begins to sign or ends; undefined without one. */
export function nextTurn(generations: readonly GenerationTimes[], now: number): number | undefined {
  const turns = generations
    // An authority that is valid until an instant has ended just after it.
    .flatMap(({ issuesFrom, goodUntil }) => [issuesFrom, goodUntil === null ? null : goodUntil + 1])
    .filter((instant) => instant !== null)
    .filter((instant) => instant > now)
  return turns.length === 0 ? undefined : Math.min(...turns)
}
