import { requireInRange } from './arguments.ts'
import { type ControllerError, invalidField } from './errors.ts'

/** The most entities of one page of a list, in every API. */
export const LARGEST_PAGE = 500

/**
 * Limits of storage and answers: counts, and bytes of UTF-8 (objects and lists: as JSON). No well-behaved client reaches a default. A
 * record that exceeded a limit before it was set still loads. It may be deleted, and changed as long as it does not grow.
 */
export interface Limits {
  /** Tags of one entity. */
  readonly tags: number
  /** Bytes of the tags of one entity. */
  readonly tagBytes: number
  /** Bytes of the tags of records that endpoints store themselves: service sessions. */
  readonly endpointTagBytes: number
  /** Bytes of any other text. */
  readonly textBytes: number
  /** Bytes of any list of texts: role attributes, the roles of a policy, config ids. */
  readonly listBytes: number
  /** Bytes of any other object: app data, the data of a config, the schema of a config type. */
  readonly objectBytes: number
  /** API sessions of one identity; a new session ends the least recently used session. */
  readonly apiSessionsPerIdentity: number
  /**
   * Revocations by one identity and of its ended sessions, until their tokens expire. Beyond the limit it can neither begin a token session
   * nor revoke anything.
   */
  readonly revocationsPerIdentity: number
  /** Service sessions of one identity; a new session ends the oldest. */
  readonly sessionsPerIdentity: number
  /** Client certificates of one API session; a new certificate deletes the oldest. */
  readonly certificatesPerApiSession: number
  /** Authenticators of one identity. */
  readonly authenticatorsPerIdentity: number
  /** Identities that one CA enrolled, by certificate or external id. */
  readonly identitiesPerCa: number
  /** Identities that one external JWT signer enrolled. */
  readonly identitiesPerSigner: number
  /** Terminators of one service. */
  readonly terminatorsPerService: number
  /** Open access requests of one identity; a further request is refused. */
  readonly openAccessRequestsPerIdentity: number
  /** Open access requests of all identities; a further request is refused. */
  readonly openAccessRequests: number
  /** Bytes of one posture response request. */
  readonly postureReportBytes: number
  /** Bytes kept of the processes that endpoints of one identity reported; new reports displace the oldest. */
  readonly reportedProcessBytes: number
  /** Bytes kept of one service request that posture refused; 50 requests are kept per identity. */
  readonly failedRequestBytes: number
  /** Bytes of the OpenID Connect logins under way for one identity; a new login displaces the oldest. */
  readonly loginBytesPerIdentity: number
  /** Bytes of the logins begun from one network that have no identity yet; the oldest are displaced first. */
  readonly loginBytesPerNetwork: number
  /** The same for all networks together; the network with the most bytes loses its oldest login. */
  readonly loginBytes: number
  /** Bytes of the entities in one list; a page ends before the entity that would exceed them. */
  readonly answerBytes: number
  /** Lists that one identity waits for, once its lists are made in turns; a further request is refused. */
  readonly listsPerIdentity: number
  /** Questions about access that one identity waits for: simulations, explanations, graphs, searches; a further question is refused. */
  readonly questionsPerIdentity: number
  /** Names of one kind that a search examines in addition to names that begin with its text, which are found without a limit. */
  readonly namesSearched: number
  /** Bytes of events kept for replay; new events displace the oldest. */
  readonly timelineBytes: number
  /** Open event streams of all identities; a further stream is refused. */
  readonly eventStreams: number
  /** Open event streams of one identity; a new stream ends the oldest. */
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
  openAccessRequestsPerIdentity: 10,
  openAccessRequests: 10_000,
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

/** The limits that a host chose, with defaults for the rest. Throws an `Error` that names a limit out of range. */
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

/** The error of a field that exceeds a limit. */
export function tooLarge(field: string, size: string, most: number, limit: keyof Limits): ControllerError {
  return invalidField(field, `${field} has ${size}, and at most ${most} are kept (limit ${limit})`, '')
}

export function tooManyTags(count: number, most: number): ControllerError {
  return tooLarge('tags', `${count} members`, most, 'tags')
}
