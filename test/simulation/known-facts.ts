import { KnownClaims, MOST_AHEAD_MS } from './known-claims.ts'

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

/** A role attribute that an identity has for some time. */
export interface KnownGrant {
  readonly identity: string
  readonly attribute: string
  readonly startsAt?: number | undefined
  readonly until: number
}

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
  /** Whether a router is disabled, as it may be. */
  readonly shutOut = new Map<string, readonly boolean[]>()
  readonly policies = new Map<string, readonly (KnownPolicy | undefined)[]>()
  readonly attributeGrants = new Map<string, readonly (KnownGrant | undefined)[]>()
  readonly claims: KnownClaims
  /** When (epoch ms) the rights of the operator end, as they may be; 0 for an operator without rights. */
  rightsUntil: readonly number[] = [0]
  /** Since when nothing changed, by the time of the run. */
  changedAt = 0
  /** The number of changes that were asked for. */
  changes = 0

  /** `faultAt` says when the last fault began or ended. */
  constructor(faultAt: () => number) {
    this.claims = new KnownClaims(faultAt)
  }

  /** Whether an identity has a right at an instant under every reading of the facts, under none, or it depends. */
  grants(identity: string, right: Right, now: number): 'yes' | 'no' | 'unknown' {
    if (this.#judge(identity, right, { from: now, to: now }, 'every')) return 'yes'
    const within = { from: now - FOLLOWED_WITHIN_MS, to: now }
    return this.mayHave(identity, right, within) ? 'unknown' : 'no'
  }

  /** Whether a router is surely disabled. */
  isShutOut(router: string): boolean {
    return (this.shutOut.get(router) ?? [false]).every((isDisabled) => isDisabled)
  }

  /** Whether an identity may have a right at some instant of an interval, by the clock of any process. */
  mayHave(identity: string, right: Right, within: Interval): boolean {
    return this.#judge(identity, right, within, 'some')
  }

  /** Whether the operator may have its rights after an instant. */
  mayOperate({ from }: Pick<Interval, 'from'>): boolean {
    return this.rightsUntil.some((until) => from < until)
  }

  /** Whether the operator surely has its rights at an instant. */
  surelyOperates(now: number): boolean {
    return this.rightsUntil.every((until) => now < until - MOST_AHEAD_MS)
  }

  /** The ends of terms, grants, logins and rights after an instant, the earliest first. */
  endsAfter(now: number): readonly number[] {
    const timed = [...this.policies.values(), ...this.attributeGrants.values()]
    const ends = timed.flatMap((readings) => readings.flatMap((one) => one?.until ?? []))
    const logins = this.claims.logins.map(({ dueAt }) => dueAt - MOST_AHEAD_MS)
    return [...ends, ...this.rightsUntil, ...logins].filter((end) => end > now).sort((left, right) => left - right)
  }

  #judge(identity: string, right: Right, at: Interval, readings: 'every' | 'some'): boolean {
    const isMet = (policy: KnownPolicy | undefined, roles: readonly string[]) =>
      policy?.type === right &&
      isInForce(policy, at, readings) &&
      (policy.identity === identity ||
        (policy.role !== undefined &&
          (roles.includes(policy.role) || this.#hasForSomeTime(identity, policy.role, at, readings))))
    const grantsTo = (roles: readonly string[]) =>
      [...this.policies.values()].some((possible) => holds(readings, possible, (policy) => isMet(policy, roles)))
    const isEnabled = holds(readings, this.enabled.get(identity) ?? [true], (enabled) => enabled)
    const given = this.given.get(identity) ?? [[]]
    const roles = (this.roles.get(identity) ?? [[]]).flatMap((own) => given.map((more) => [...own, ...more]))
    return isEnabled && holds(readings, roles, grantsTo)
  }

  /** Whether an identity may have an attribute by a grant at some instant of an interval. */
  mayBeGranted(identity: string, attribute: string, within: Interval): boolean {
    return this.#isGranted(identity, attribute, within, 'some')
  }

  #isGranted(identity: string, attribute: string, at: Interval, readings: 'every' | 'some'): boolean {
    const isOf = (grant: KnownGrant | undefined) =>
      grant?.identity === identity && grant.attribute === attribute && isInForce(grant, at, readings)
    return [...this.attributeGrants.values()].some((possible) => holds(readings, possible, isOf))
  }

  /** Whether an identity has an attribute by a grant or by claims. */
  #hasForSomeTime(identity: string, attribute: string, at: Interval, readings: 'every' | 'some'): boolean {
    if (this.#isGranted(identity, attribute, at, readings)) return true
    return readings === 'every'
      ? this.claims.surelyHas(identity, attribute, at.to)
      : this.claims.mayHave(identity, attribute, at)
  }
}

function holds<T>(readings: 'every' | 'some', of: readonly T[], test: (one: T) => boolean): boolean {
  return readings === 'every' ? of.every(test) : of.some(test)
}

/** A term is surely in force at the end of an interval, or may be in force at some instant of it, by the clock of any process. */
function isInForce(
  { startsAt = 0, until = NEVER }: Pick<KnownPolicy, 'startsAt' | 'until'>,
  { from, to }: Interval,
  readings: 'every' | 'some',
): boolean {
  return readings === 'every'
    ? to >= startsAt + FOLLOWED_WITHIN_MS && to < until - MOST_AHEAD_MS
    : to >= startsAt - MOST_AHEAD_MS && from < until
}
