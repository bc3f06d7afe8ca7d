/** The phases of a service policy with a term: before the term, within it, after it. */
export const PHASES = ['coming', 'in-force', 'over'] as const
export type PolicyPhase = (typeof PHASES)[number]

/** The term of a service policy: the instants (epoch ms) between which it grants. Null leaves an end open. */
export interface PolicyTerm {
  readonly startsAt: number | null
  readonly until: number | null
}

/** A term, and the phase that a write gave its policy. The phase is null for a policy without a term. */
export interface TermInPhase extends PolicyTerm {
  readonly phase: PolicyPhase | null
}

/** Answers the phase of a term at `now` (epoch ms). It includes `startsAt` and excludes `until`. Null for an open term. */
export function phaseAt({ startsAt, until }: PolicyTerm, now: number): PolicyPhase | null {
  if (startsAt === null && until === null) return null
  if (until !== null && until <= now) return 'over'
  return startsAt !== null && now < startsAt ? 'coming' : 'in-force'
}

/** Answers the phase that counts at `now` (epoch ms): the phase that was written, and `over` from `until` on. */
export function phaseNow(term: TermInPhase, now: number): PolicyPhase | null {
  return term.phase === 'over' || phaseAt(term, now) === 'over' ? 'over' : term.phase
}

/** Answers the instant (epoch ms) at which the next phase begins; undefined for the last phase and for an open term. */
export function nextPhaseAt({ startsAt, until, phase }: TermInPhase): number | undefined {
  if (phase === 'coming') return startsAt ?? until ?? undefined
  return phase === 'in-force' ? (until ?? undefined) : undefined
}

/**
 * Reports whether a policy grants at `now` (epoch ms). It grants from the write that begins its term. It does not grant at `until` or
 * later, also where the write that ends its term is late.
 */
export function isInForce(term: TermInPhase, now: number): boolean {
  return isInForceBy(phaseNow(term, now))
}

/** Reports whether a policy grants by a phase alone, as the graph and the audit trail know it; undefined without a term, too. */
export function isInForceBy(phase: unknown): boolean {
  return phase !== 'coming' && phase !== 'over'
}

/** Reports whether a policy grants now or will grant: plans, simulations and invariants count it. */
export function mayGrant({ phase }: Pick<TermInPhase, 'phase'>): boolean {
  return phase !== 'over'
}
