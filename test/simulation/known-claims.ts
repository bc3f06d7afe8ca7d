/** The most milliseconds by which the clock of a process is ahead. */
export const MOST_AHEAD_MS = 2000
/** Milliseconds within which all follows that follows from an end. */
const FOLLOWED_WITHIN_MS = 2000
/** Milliseconds after the last fault within which an end is written that a fault prevented: processes look for each other's every 10 s. */
const WRITTEN_WITHIN_MS = 15_000
/** The most milliseconds after which a login may still begin whose answer was lost. */
const LOST_WITHIN_MS = 60_000

/** A login by a token of the signer, as the network's people know it. */
export interface KnownLogin {
  readonly identity: string
  readonly attributes: readonly string[]
  readonly askedAt: number
  /** Undefined while nobody knows whether it began. */
  session: { readonly id: string; readonly token: string } | undefined
  /** An end was asked for, and may have happened. */
  isEnding: boolean
  /** From then on it surely stands no more. */
  overAt: number
  /** From then on it has to end, by a write that faults may delay. */
  dueAt: number
  /** The same for an end whose answer was lost: where its reason is taken back before, the login may go on. */
  endAt: number
}

/** A time of the run, from and to (epoch ms). */
interface Interval {
  readonly from: number
  readonly to: number
}

/** The logins by tokens of an external signer, and the role attributes that they give: those of the latest token, while any login stands. */
export class KnownClaims {
  readonly logins: KnownLogin[] = []
  /** The role attributes of the latest token of an identity, as they may be. */
  readonly latest = new Map<string, readonly (readonly string[])[]>()
  /** Whether the signer is enabled, as it may be. */
  enabled: readonly boolean[] = [true]
  /** Milliseconds without use after which a login ends. */
  lastsMs = 0
  readonly #faultAt: () => number

  /** `faultAt` says when the last fault began or ended. */
  constructor(faultAt: () => number) {
    this.#faultAt = faultAt
  }

  /** A login that may begin from now on. */
  asked(identity: string, attributes: readonly string[], askedAt: number): KnownLogin {
    const never = Number.POSITIVE_INFINITY
    const lost = { session: undefined, isEnding: false, overAt: never, endAt: never }
    const dueAt = askedAt + LOST_WITHIN_MS + this.lastsMs + MOST_AHEAD_MS
    const login: KnownLogin = { identity, attributes, askedAt, ...lost, dueAt }
    this.logins.push(login)
    return login
  }

  /** It began, and the holder has its session. */
  begun(login: KnownLogin, session: KnownLogin['session'], now: number): void {
    login.session = session
    login.dueAt = Math.min(login.dueAt, now + this.lastsMs + MOST_AHEAD_MS)
  }

  /** An end of several logins that may happen from now on. */
  ending(now: number, isEnded: (login: KnownLogin) => boolean) {
    const logins = this.logins.filter((login) => now < login.overAt && isEnded(login))
    const before = logins.map(({ isEnding }) => isEnding)
    for (const login of logins) login.isEnding = true
    return {
      logins,
      done: (at: number) => {
        for (const login of logins) login.dueAt = Math.min(login.dueAt, at)
      },
      lost: (at: number) => {
        for (const login of logins) login.endAt = Math.min(login.endAt, at)
      },
      refused: () => {
        for (const [at, login] of logins.entries()) login.isEnding = before[at] ?? false
      },
    }
  }

  /** The reason of ends is taken back: nobody was told that they happened where their answer was lost. */
  takenBack(): void {
    for (const login of this.logins) login.endAt = Number.POSITIVE_INFINITY
  }

  /** Whether an identity may have an attribute at some instant of an interval. */
  mayHave(identity: string, attribute: string, { from }: Interval): boolean {
    const isLatest = this.latest.get(identity)?.some((attributes) => attributes.includes(attribute)) ?? false
    return isLatest && this.logins.some((login) => login.identity === identity && this.mayStand(login, from))
  }

  /** Whether an identity surely has an attribute at an instant. */
  surelyHas(identity: string, attribute: string, now: number): boolean {
    const latest = this.latest.get(identity) ?? [[]]
    const isStanding = this.logins.some((login) => login.identity === identity && this.surelyStands(login, now))
    return isStanding && latest.every((attributes) => attributes.includes(attribute))
  }

  mayStand({ overAt, dueAt, endAt }: KnownLogin, from: number): boolean {
    const isWritten = from >= Math.min(dueAt, endAt) + FOLLOWED_WITHIN_MS && from >= this.#faultAt() + WRITTEN_WITHIN_MS
    return from < overAt && !isWritten
  }

  surelyStands({ session, isEnding, askedAt, overAt, dueAt, endAt }: KnownLogin, now: number): boolean {
    const isBefore = now < Math.min(overAt, dueAt, endAt, askedAt + this.lastsMs - MOST_AHEAD_MS)
    return session !== undefined && !isEnding && isBefore
  }
}
