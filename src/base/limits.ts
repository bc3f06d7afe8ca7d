import { requireInRange } from './arguments.ts'
import { type ControllerError, invalidField } from './errors.ts'

/**
 * How much may be stored, and answered at once: numbers of things, and bytes of UTF-8 (of objects and lists: as JSON). No
 * well-behaved client meets a default. What a store held before a limit still loads, may be deleted, and may be changed as
 * long as it does not grow.
 */
export interface Limits {
  /** Tags of one entity. */
  readonly tags: number
  /** Bytes of the tags of one entity. */
  readonly tagBytes: number
  /** Bytes of the tags of what endpoints store themselves: service sessions. */
  readonly endpointTagBytes: number
  /** Bytes of any other text. */
  readonly textBytes: number
  /** Bytes of any list of texts: role attributes, the roles of a policy, config ids. */
  readonly listBytes: number
  /** Bytes of any other object: app data, the data of a config, the schema of a config type. */
  readonly objectBytes: number
  /** API sessions of one identity; the one that was not used for longest is ended for a new one. */
  readonly apiSessionsPerIdentity: number
  /**
   * Revocations that one identity made, and of its sessions that ended, until their tokens have expired: beyond them it begins no
   * further session of tokens, and revokes nothing more.
   */
  readonly revocationsPerIdentity: number
  /** Service sessions of one identity; the oldest is ended for a new one. */
  readonly sessionsPerIdentity: number
  /** Client certificates of one API session; the oldest is deleted for a new one. */
  readonly certificatesPerApiSession: number
  /** Authenticators of one identity. */
  readonly authenticatorsPerIdentity: number
  /** Identities that one CA enrolled, by certificates or by external ids. */
  readonly identitiesPerCa: number
  /** Identities that one external JWT signer enrolled. */
  readonly identitiesPerSigner: number
  /** Terminators of one service. */
  readonly terminatorsPerService: number
  /** Bytes of one request with posture responses. */
  readonly postureReportBytes: number
  /** Bytes that are kept of the processes that endpoints of one identity reported; the oldest reports go for new ones. */
  readonly reportedProcessBytes: number
  /** Bytes that are kept of one service request that posture refused; fifty requests are kept per identity. */
  readonly failedRequestBytes: number
  /** Bytes of the logins by OpenID Connect that are under way for one identity; those begun first go for a new one. */
  readonly loginBytesPerIdentity: number
  /** Bytes of the logins that were begun from one network and on which nobody logged in yet; those begun first go. */
  readonly loginBytesPerNetwork: number
  /** The same of all networks; those of the network that has most go. */
  readonly loginBytes: number
  /** Bytes of the entities in one list; a page ends before the entity that would exceed them. */
  readonly answerBytes: number
  /** Lists that one identity waits for, once its lists are made in turns; a further one is refused. */
  readonly listsPerIdentity: number
  /** Questions about access that one identity waits for: simulations, explanations, graphs, searches; a further one is refused. */
  readonly questionsPerIdentity: number
  /** Names of one kind that a search looks at which do not begin with its text; those that do are found whatever their number. */
  readonly namesSearched: number
  /** Bytes of events that are remembered, for those who look back; the oldest go for new ones. */
  readonly timelineBytes: number
  /** Streams of events that are open, of all identities; a further one is refused. */
  readonly eventStreams: number
  /** Streams of events that one identity has open; the oldest is ended for a new one. */
  readonly eventStreamsPerIdentity: number
}

const KIB = 1024

export const DEFAULT_LIMITS: Limits = {
  tags: 256,
  tagBytes: 16 * KIB,
  endpointTagBytes: 2 * KIB,
  textBytes: 64 * KIB,
  listBytes: 512 * KIB,
  objectBytes: 256 * KIB,
  apiSessionsPerIdentity: 500,
  revocationsPerIdentity: 5000,
  sessionsPerIdentity: 10_000,
  certificatesPerApiSession: 10,
  authenticatorsPerIdentity: 50,
  identitiesPerCa: 1_000_000,
  identitiesPerSigner: 1_000_000,
  terminatorsPerService: 10_000,
  postureReportBytes: 128 * KIB,
  reportedProcessBytes: 512 * KIB,
  failedRequestBytes: 16 * KIB,
  loginBytesPerIdentity: 128 * KIB,
  loginBytesPerNetwork: 8 * KIB * KIB,
  loginBytes: 64 * KIB * KIB,
  answerBytes: 16 * KIB * KIB,
  listsPerIdentity: 1000,
  questionsPerIdentity: 16,
  namesSearched: 250_000,
  timelineBytes: KIB * KIB,
  eventStreams: 200,
  eventStreamsPerIdentity: 8,
}

const MOST = 1024 * KIB * KIB

/** The limits that a host chose, the others as by default. Throws an `Error` that names one out of range. */
export function limitsOf(chosen: Partial<Limits> = {}): Limits {
  const limits: Record<keyof Limits, number> = { ...DEFAULT_LIMITS }
  for (const [name, value] of Object.entries(chosen)) {
    if (!isLimit(name)) throw new Error(`limits.${name} is no limit`)
    if (value !== undefined) limits[name] = requireInRange(`limits.${name}`, value, 1, MOST)
  }
  return limits
}

function isLimit(name: string): name is keyof Limits {
  return Object.hasOwn(DEFAULT_LIMITS, name)
}

/** The refusal of a field that is larger than a limit. */
export function tooLarge(field: string, size: string, most: number, limit: keyof Limits): ControllerError {
  return invalidField(field, `${field} has ${size}, and at most ${most} are kept (limit ${limit})`, '')
}

export function tooManyTags(count: number, most: number): ControllerError {
  return tooLarge('tags', `${count} members`, most, 'tags')
}
