/** The kinds of rights. */
export type Right = 'Dial' | 'Bind'

/** A service policy, for an attribute or for one identity, with its term (epoch ms) where it has one. */
export interface KnownPolicy {
  readonly type: Right
  readonly role?: string
  readonly identity?: string
  readonly startsAt?: number | undefined
  readonly until?: number | undefined
}

/** The most milliseconds by which the clock of a process is ahead. */
export const MOST_AHEAD_MS = 2000
/** Milliseconds after the begin and the end of a term within which all follows that follows from it. */
const FOLLOWED_WITHIN_MS = 2000
const NEVER = Number.POSITIVE_INFINITY

/** A time of the run, from and to (epoch ms). */
interface Interval {
  readonly from: number
  readonly to: number
}

/**
 * The facts of the network as its administrators set them, with what they may be where an answer was lost. Who may do what follows from
 * them in the plainest way: this is the oracle, and shares no code with the product.
 */
export class KnownFacts {
  /** Each role that an identity may have at present; one list where it is certain. */
  readonly roles = new Map<string, readonly (readonly string[])[]>()
  /** Each list of roles that the directory of the host may give an identity at present. */
  readonly given = new Map<string, readonly (readonly string[])[]>()
  readonly enabled = new Map<string, readonly boolean[]>()
  readonly policies = new Map<string, readonly (KnownPolicy | undefined)[]>()
  /** When (epoch ms) the rights of the operator end, as they may be; 0 for an operator without rights. */
  rightsUntil: readonly number[] = [0]
  /** Since when nothing changed, by the time of the run. */
  changedAt = 0
  /** The number of changes that were asked for. */
  changes = 0

  /** Whether an identity has a right at an instant under every reading of the facts, under none, or it depends. */
  grants(identity: string, right: Right, now: number): 'yes' | 'no' | 'unknown' {
    const isSure = this.#judge(identity, right, (policy) => isSurelyInForce(policy, now), 'every')
    if (isSure) return 'yes'
    const within = { from: now - FOLLOWED_WITHIN_MS, to: now }
    return this.mayHave(identity, right, within) ? 'unknown' : 'no'
  }

  /** Whether an identity may have a right at some instant of an interval, by the clock of any process. */
  mayHave(identity: string, right: Right, within: Interval): boolean {
    return this.#judge(identity, right, (policy) => mayBeInForce(policy, within), 'some')
  }

  /** Whether the operator may have its rights after an instant. */
  mayOperate({ from }: Pick<Interval, 'from'>): boolean {
    return this.rightsUntil.some((until) => from < until)
  }

  /** Whether the operator surely has its rights at an instant. */
  surelyOperates(now: number): boolean {
    return this.rightsUntil.every((until) => now < until - MOST_AHEAD_MS)
  }

  /** The ends of terms and rights after an instant, the earliest first. */
  endsAfter(now: number): readonly number[] {
    const ends = [...this.policies.values()].flatMap((readings) => readings.flatMap((policy) => policy?.until ?? []))
    return [...ends, ...this.rightsUntil].filter((end) => end > now).sort((left, right) => left - right)
  }

  #judge(
    identity: string,
    right: Right,
    isInForce: (policy: KnownPolicy) => boolean,
    readings: 'every' | 'some',
  ): boolean {
    const isMet = (policy: KnownPolicy | undefined, roles: readonly string[]) =>
      policy?.type === right &&
      isInForce(policy) &&
      (policy.identity === identity || (policy.role !== undefined && roles.includes(policy.role)))
    const grantsTo = (roles: readonly string[]) =>
      [...this.policies.values()].some((possible) => holds(readings, possible, (policy) => isMet(policy, roles)))
    const isEnabled = holds(readings, this.enabled.get(identity) ?? [true], (enabled) => enabled)
    const given = this.given.get(identity) ?? [[]]
    const roles = (this.roles.get(identity) ?? [[]]).flatMap((own) => given.map((more) => [...own, ...more]))
    return isEnabled && holds(readings, roles, grantsTo)
  }
}

function holds<T>(readings: 'every' | 'some', of: readonly T[], test: (one: T) => boolean): boolean {
  return readings === 'every' ? of.every(test) : of.some(test)
}

function isSurelyInForce({ startsAt = 0, until = NEVER }: KnownPolicy, now: number): boolean {
  return now >= startsAt + FOLLOWED_WITHIN_MS && now < until - MOST_AHEAD_MS
}

function mayBeInForce({ startsAt = 0, until = NEVER }: KnownPolicy, { from, to }: Interval): boolean {
  return to >= startsAt - MOST_AHEAD_MS && from < until
}
