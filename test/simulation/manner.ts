import { Choices } from './choices.ts'
import { MOST_AHEAD_MS } from './known-claims.ts'

/** How the network of a seed is, and what happens in it more or less often than in others. */
export interface Manner {
  /** Faults occur: the other runs hold the bounds that hold while nothing fails. */
  readonly hasFaults: boolean
  /** The number of steps among which one is a fault. */
  readonly faultEvery: number
  /** A third process is there, without an edge router of its own. */
  readonly hasThird: boolean
  /** The third process is slow to answer now and then. */
  readonly hasSlowAnswers: boolean
  /** Processes with circuits over the routers of another one are cut off from it, for long or for a moment. */
  readonly isCutOff: boolean
  /** Answers of the store are late now and then, while routers that learn connect. */
  readonly hasLateAnswers: boolean
  /** By how much the clock of each process is ahead from the beginning, ms. */
  readonly aheadMs: readonly number[]
  /** The number of steps among which one is followed by a long time. */
  readonly longEvery: number
  /** Processes are connected for so long that they know of each other's circuits. */
  readonly isSettled: boolean
  /** One router has rights by terms alone. */
  readonly hasGuest: boolean
  /** The host has a directory, which gives role attributes. */
  readonly hasDirectory: boolean
  /** Administrators give role attributes for some time. */
  readonly hasGrants: boolean
  /** Persons log in by tokens of an external signer, whose claims give role attributes. */
  readonly hasClaims: boolean
  /** Milliseconds after which unused logins end, in networks with claims. */
  readonly loginsLastMs: number
  /** Played routers keep the data model and the API sessions, and administrators disable routers. */
  readonly routersLearn: boolean
  /** The own routers of processes are linked, and devices reach a host at the router of another process. */
  readonly hasOwnLinks: boolean
  /** An edge router of a program of its own is there, which runs the code of the product. */
  readonly hasRunningRouter: boolean
  /** Bytes arrive in pieces that end anywhere. */
  readonly cutsBytes: boolean
  /** By how much an act or a fault is more frequent than usual. */
  frequency(name: string): number
}

const SHARE_WITH_FAULTS = 0.75
const SHARE_WITH_THIRD = 0.4
const SHARE_SETTLED = 0.25
const SHARE_WITH_DIRECTORY = 0.3
const SHARE_WITH_GRANTS = 0.3
const SHARE_WITH_CLAIMS = 0.3
const SHARE_WITH_SLOW_ANSWERS = 0.5
const SHARE_WITH_LEARNING = 0.3
/** Of choices of their own, under which the networks of the seeds of defects stay as they were. */
const LEARNING = 5_000_834
const SHARE_CUT_OFF = 0.5
const CUT_OFF = 6_000_023
const SHARE_WITH_LATE_ANSWERS = 0.5
const LATE_ANSWERS = 7_000_454
const SHARE_WITH_OWN_LINKS = 0.3
const OWN_LINKS = 9_057_379
const SHARE_WITH_RUNNING_ROUTER = 0.3
const RUNNING_ROUTER = 11_333_993
const SHARE_WITH_CUTS = 0.3
const CUTS = 8_071_941
const SHARE_WITH_SHORT_LOGINS = 0.6
const SHORT_LOGIN_MS = 20_000
const LONG_LOGIN_MS = 1_800_000
const SHARE_WITH_CLOCKS = 0.5
/** Some are seldom and others frequent: where all are as usual, two rare ones hardly meet. */
const FREQUENCIES = [0.3, 1, 1, 4]

/** The manner of a seed. */
export function mannerOf(seed: number): Manner {
  const choices = new Choices(seed * 2 + 1)
  const frequencies = new Map<string, number>()
  const drawn = (what: string): number => {
    const known = frequencies.get(what) ?? choices.pick(FREQUENCIES) ?? 1
    frequencies.set(what, known)
    return known
  }
  const hasFaults = choices.happens(SHARE_WITH_FAULTS)
  const claims = new Choices(seed + 3_000_045)
  const hasClaims = claims.happens(SHARE_WITH_CLAIMS)
  const hasClocks = choices.happens(SHARE_WITH_CLOCKS)
  const hasThird = choices.happens(SHARE_WITH_THIRD)
  const hasSlowAnswers = hasThird && new Choices(seed + 4_000_046).happens(SHARE_WITH_SLOW_ANSWERS)
  const isCutOff = hasThird && !hasSlowAnswers && new Choices(seed + CUT_OFF).happens(SHARE_CUT_OFF)
  const hasOwnLinks = new Choices(seed + OWN_LINKS).happens(SHARE_WITH_OWN_LINKS)
  const routersLearn = new Choices(seed + LEARNING).happens(SHARE_WITH_LEARNING)
  return {
    hasFaults,
    hasThird,
    hasSlowAnswers,
    isCutOff,
    hasLateAnswers: routersLearn && new Choices(seed + LATE_ANSWERS).happens(SHARE_WITH_LATE_ANSWERS),
    faultEvery: choices.pick([5, 8, 12]) ?? 8,
    longEvery: choices.pick([15, 30, 60]) ?? 30,
    aheadMs: Array.from({ length: 3 }, () => (hasClocks ? choices.below(MOST_AHEAD_MS) : 0)),
    isSettled: choices.happens(SHARE_SETTLED) || hasSlowAnswers || isCutOff,
    hasGuest: choices.happens(0.6),
    // Of choices of its own: the networks without a directory are as they were before there was one.
    hasDirectory: new Choices(seed + 1_000_007).happens(SHARE_WITH_DIRECTORY),
    hasGrants: new Choices(seed + 2_000_189).happens(SHARE_WITH_GRANTS),
    hasClaims,
    loginsLastMs: claims.happens(SHARE_WITH_SHORT_LOGINS) ? SHORT_LOGIN_MS : LONG_LOGIN_MS,
    routersLearn,
    hasOwnLinks,
    hasRunningRouter: new Choices(seed + RUNNING_ROUTER).happens(SHARE_WITH_RUNNING_ROUTER),
    cutsBytes: new Choices(seed + CUTS).happens(SHARE_WITH_CUTS),
    // Devices do more where what they send goes over links. Acts of one kind share their first word: all of a kind are seldom or frequent, and each for itself.
    frequency: (name) =>
      drawn(name) * drawn(`all of ${name.split(' ', 1)[0]}`) * (hasOwnLinks && name.startsWith('device') ? 4 : 1),
  }
}
