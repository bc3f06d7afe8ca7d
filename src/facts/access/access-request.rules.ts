import { DAY_MS } from '../../base/time.ts'
/** The states of an access request. Only an open request changes. */
export const REQUEST_STATES = ['open', 'approved', 'refused', 'withdrawn', 'expired'] as const
export type RequestState = (typeof REQUEST_STATES)[number]

/** The shortest and the longest time that can be asked for, ms. */
export const SHORTEST_REQUEST_MS = 60_000
export const LONGEST_REQUEST_MS = 30 * DAY_MS
/** Milliseconds after which an open request ends by itself: a later approval would open access that nobody waits for. */
export const OPEN_MS = DAY_MS
/** Requests of one identity that are kept once they are decided; the oldest are deleted. The audit trail keeps all of them. */
export const KEPT_DECIDED = 50

/** The state of a request at `now` (epoch ms): an open request is over at its end, also where the write that says so is late. */
export function stateAt({ state, expiresAt }: { state: RequestState; expiresAt: number }, now: number): RequestState {
  return state === 'open' && expiresAt <= now ? 'expired' : state
}

/** Access that ends by itself, from one identity or attribute to one service or attribute. */
interface TimedGrant {
  /** The names for people. */
  readonly who: string
  readonly what: string
  readonly type: 'Dial' | 'Bind'
  readonly identityRole: string
  readonly serviceRole: string
  readonly postureCheckRoles?: readonly string[] | undefined
  /** RFC 3339. */
  readonly startsAt?: string | undefined
  readonly until: string
  readonly reason?: string | undefined
  /** The id of the request that the grant approves. */
  readonly requestId?: string | undefined
}

/** The service policy of a grant, as a request creates it. Its name is the grant and its end. */
export function policyOfGrant(grant: TimedGrant) {
  const { who, what, type, identityRole, serviceRole, postureCheckRoles = [], startsAt, until, reason } = grant
  const told = `grant ${shortened(who)} ${type === 'Dial' ? 'dial' : 'bind'} ${shortened(what)} until ${until}`
  return {
    name: grant.requestId === undefined ? told : `${told} (request ${grant.requestId})`,
    type,
    semantic: 'AnyOf' as const,
    identityRoles: [identityRole],
    serviceRoles: [serviceRole],
    postureCheckRoles: [...postureCheckRoles],
    until,
    ...(startsAt !== undefined && { startsAt }),
    ...(reason !== undefined && { reason }),
  }
}

/** The first 200 characters: the name of a policy has 1,024 at most. */
function shortened(name: string): string {
  return [...name].slice(0, 200).join('')
}
