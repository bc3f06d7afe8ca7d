import type { AccessType } from './index/index.ts'
import {
  emptyPostureData,
  firstPassing,
  nextPolicyDeadline,
  type PostureCheck,
  type PostureData,
} from './posture/rules/index.ts'

/** Why an identity may, or may not, dial or bind a service: the first obstacle in the order of this list. */
export type Reason =
  /** No identity has the id or name. */
  | 'identity-unknown'
  /** No service has the id or name. */
  | 'service-unknown'
  /** The identity is disabled and cannot even authenticate. */
  | 'identity-disabled'
  /** No service policy selects both the identity and the service. */
  | 'no-policy-for-pair'
  /** Service policies select both, but only for the other of Dial and Bind. */
  | 'only-other-type'
  /** Service policies grant it, and each of them has a posture check that fails. */
  | 'posture-failing'
  /** No edge router policy gives the identity an edge router. */
  | 'no-edge-router-for-identity'
  /** No service edge router policy gives the service an edge router. */
  | 'no-edge-router-for-service'
  /** Both have edge routers, but none in common. */
  | 'no-common-edge-router'
  /** A session is given, but none of the common edge routers is online to carry it. */
  | 'all-common-edge-routers-offline'
  /** A session is given and could be carried, but nothing hosts the service. */
  | 'no-terminators'
  /** A session is given, and an edge router is online to carry it. */
  | 'granted'

/** Every reason, in the order in which they are looked for. */
export const REASONS = [
  'identity-unknown',
  'service-unknown',
  'identity-disabled',
  'no-policy-for-pair',
  'only-other-type',
  'posture-failing',
  'no-edge-router-for-identity',
  'no-edge-router-for-service',
  'no-common-edge-router',
  'all-common-edge-routers-offline',
  'no-terminators',
  'granted',
] as const satisfies readonly Reason[]

/** The right that a party at an edge router lacks before any policy is asked. */
export type PartyLack = 'not-a-tunneler' | 'api-session-over' | 'factor-missing' | 'service-session-over'

/** Why a decision is as it is; a party at an edge router may lack more than one that asks the APIs. */
export type DecisionReason = Reason | PartyLack | 'other-edge-router'

/** The grant of service policies of one type: the policy of the lowest id, and the posture checks before it. */
export interface GuardedGrant {
  readonly policyId: string
  readonly type: AccessType
  readonly checks: readonly PostureCheck[]
}

/** The reports of an endpoint, seen from one API session: empty for none. */
export interface SessionReport {
  readonly data: PostureData
  readonly apiSessionId: string
}

/** The edge routers between an identity and a service; `online` are those of the common ones, where it matters. */
export interface RoutersInQuestion {
  readonly ofIdentity: number
  readonly ofService: number
  readonly common: readonly string[]
  readonly online?: readonly string[]
}

/** A party that dials or hosts at an edge router. */
export interface PartyFacts {
  readonly routerId: string
  readonly lack: PartyLack | undefined
  /** When its API session is over by itself, epoch ms; undefined where there is none. */
  readonly endsAt: number | undefined
  /** Whether its router judges posture, so that what fails by the reports that are known here refuses nothing. */
  readonly isJudgedThere: boolean
}

/** Everything that decides whether an identity may dial or bind a service. */
export interface DecisionFacts {
  /** Undefined for one that is not there. `disabledUntil` is in epoch ms, and null for good. */
  readonly identity: { readonly isDisabled: boolean; readonly disabledUntil?: number | null } | undefined
  readonly hasService: boolean
  /** The grants of service policies of either type that select both. */
  readonly grants: readonly GuardedGrant[]
  /** Undefined where posture is not in question: every policy passes. */
  readonly posture: SessionReport | undefined
  /** Undefined where it does not matter which edge routers carry the access. */
  readonly routers: RoutersInQuestion | undefined
  /** How many terminators the service has, for a dial; undefined where it does not matter. */
  readonly terminators?: number | undefined
  /** Undefined for a party that asks the APIs. */
  readonly party?: PartyFacts | undefined
  /** Whether every passing policy is named, as by deployed controllers, instead of the first. */
  readonly namesEveryPolicy: boolean
}

/** Whether an identity may dial or bind a service, and why. */
export interface Decision {
  readonly verdict: 'allowed' | 'refused'
  /** The first obstacle; `granted` where there is none. */
  readonly reason: DecisionReason
  /** The ids of the service policies that carry the access as far as posture goes, whatever else refuses it. */
  readonly policies: readonly string[]
  /** The ids of the edge routers that both may use, ascending; none where they are not in question. */
  readonly routers: readonly string[]
  /** The next instant (epoch ms) at which it may be decided otherwise though nothing changes; undefined for none. */
  readonly until: number | undefined
  /** At an edge router: whether nothing but reports of the endpoint carries it, so that they have to go on passing. */
  readonly isByReports: boolean
}

/** The grants that carry an access, and until when. */
type Carrying = Pick<Decision, 'policies' | 'until' | 'isByReports'>

/** The facts of one type of access. */
interface Asked {
  readonly facts: DecisionFacts
  readonly ofType: readonly GuardedGrant[]
  readonly carrying: Carrying | undefined
}

type Obstacle = Exclude<DecisionReason, 'granted' | 'all-common-edge-routers-offline' | 'no-terminators'>

const STANDS_IN_THE_WAY: Readonly<Record<Obstacle, (asked: Asked) => boolean>> = {
  'identity-unknown': ({ facts }) => facts.identity === undefined,
  'service-unknown': ({ facts }) => !facts.hasService,
  'identity-disabled': ({ facts }) => facts.identity?.isDisabled === true,
  'not-a-tunneler': ({ facts }) => facts.party?.lack === 'not-a-tunneler',
  'api-session-over': ({ facts }) => facts.party?.lack === 'api-session-over',
  'factor-missing': ({ facts }) => facts.party?.lack === 'factor-missing',
  'service-session-over': ({ facts }) => facts.party?.lack === 'service-session-over',
  'no-policy-for-pair': ({ facts }) => facts.grants.length === 0,
  'only-other-type': ({ ofType }) => ofType.length === 0,
  'posture-failing': ({ facts, carrying }) => carrying === undefined && facts.party?.isJudgedThere !== true,
  'no-edge-router-for-identity': ({ facts }) => facts.routers?.ofIdentity === 0,
  'no-edge-router-for-service': ({ facts }) => facts.routers?.ofService === 0,
  'no-common-edge-router': ({ facts }) => facts.routers?.common.length === 0,
  'other-edge-router': ({ facts: { party, routers } }) =>
    party !== undefined && routers !== undefined && !routers.common.includes(party.routerId),
}

const POLICIES = ['no-policy-for-pair', 'only-other-type'] as const
const ROUTERS = ['no-edge-router-for-identity', 'no-edge-router-for-service', 'no-common-edge-router'] as const

/** In which order who asks the APIs hears of obstacles. */
const BY_APIS: readonly Obstacle[] = [
  'identity-unknown',
  'service-unknown',
  'identity-disabled',
  ...POLICIES,
  'posture-failing',
  ...ROUTERS,
]

/** In which order an edge router hears of them: whether it is one of those to use comes before posture. */
const BY_ROUTERS: readonly Obstacle[] = [
  'not-a-tunneler',
  'service-unknown',
  'identity-unknown',
  'identity-disabled',
  'api-session-over',
  'factor-missing',
  'service-session-over',
  ...POLICIES,
  ...ROUTERS,
  'other-edge-router',
  'posture-failing',
]

/**
 * Decides whether an identity may dial or bind a service at `now` (epoch ms). Sessions and their enforcement, circuits and
 * terminators, explanations, simulations, advice and lists of services ask it; they differ in the facts that are in question.
 */
export function decideAccess(type: AccessType, facts: DecisionFacts, now: number): Decision {
  const ofType = facts.grants.filter((grant) => grant.type === type)
  const carrying = carriedBy(ofType, facts, now)
  const asked = { facts, ofType, carrying }
  const obstacle = (facts.party === undefined ? BY_APIS : BY_ROUTERS).find((one) => STANDS_IN_THE_WAY[one](asked))
  const { policies = [], isByReports = false } = carrying ?? {}
  const decided = { policies, routers: facts.routers?.common ?? [], isByReports }
  if (obstacle !== undefined) {
    const until = obstacle === 'identity-disabled' ? (facts.identity?.disabledUntil ?? undefined) : undefined
    return { ...decided, verdict: 'refused', reason: obstacle, until }
  }
  const isHosted = type === 'Bind' || facts.terminators !== 0
  const isOffline = facts.routers?.online?.length === 0
  const carried = isHosted ? 'granted' : 'no-terminators'
  const reason = isOffline ? 'all-common-edge-routers-offline' : carried
  return { ...decided, verdict: 'allowed', reason, until: earlier(carrying?.until, facts.party?.endsAt) }
}

/** Decides by posture what of some grants of one type carries an access; undefined where nothing does. */
function carriedBy(
  grants: readonly GuardedGrant[],
  { posture, party, namesEveryPolicy }: DecisionFacts,
  now: number,
): Carrying | undefined {
  if (posture === undefined) return carriedByAll(grants, namesEveryPolicy)
  const { data, apiSessionId } = posture
  // A grant that passes without any report goes on passing at a router, whatever is reported.
  if (party !== undefined) {
    const unasked = grants.filter((grant) => isPassing(grant, emptyPostureData(), apiSessionId, now))
    if (unasked.length > 0) return carriedByAll(unasked, namesEveryPolicy)
  }
  const first = firstPassing(grants, data, apiSessionId, now)
  if (first === undefined) return undefined
  const passing = namesEveryPolicy ? grants.filter((grant) => isPassing(grant, data, apiSessionId, now)) : [first]
  const until = nextPolicyDeadline(namesEveryPolicy ? grants : passing, data, apiSessionId, now)
  return { policies: passing.map(({ policyId }) => policyId), until, isByReports: party !== undefined }
}

function carriedByAll(grants: readonly GuardedGrant[], namesEveryPolicy: boolean): Carrying | undefined {
  if (grants.length === 0) return undefined
  const named = namesEveryPolicy ? grants : grants.slice(0, 1)
  return { policies: named.map(({ policyId }) => policyId), until: undefined, isByReports: false }
}

function isPassing(grant: GuardedGrant, data: PostureData, apiSessionId: string, now: number): boolean {
  return firstPassing([grant], data, apiSessionId, now) !== undefined
}

/** The earlier of two instants; either may be absent. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}
