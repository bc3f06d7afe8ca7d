import { earlier } from '../../base/time.ts'
import type { AccessType } from './index/index.ts'
import {
  emptyPostureData,
  firstPassing,
  nextPolicyDeadline,
  type PostureCheck,
  type PostureData,
} from './posture/rules/index.ts'

/** The reasons of a decision about dialing or binding, in the order in which callers of the APIs learn of obstacles. */
export const REASONS = [
  /** No identity has the id or name. */
  'identity-unknown',
  /** No service has the id or name. */
  'service-unknown',
  /** The identity is disabled and cannot even authenticate. */
  'identity-disabled',
  /** Service policies of the type select both, and the term of each has not begun or is over. */
  'no-policy-in-force',
  /** No service policy selects both the identity and the service. */
  'no-policy-for-pair',
  /** Service policies select both, but only for the other access type. */
  'only-other-type',
  /** Service policies grant it, and each of them has a posture check that fails. */
  'posture-failing',
  /** No edge router policy gives the identity an edge router. */
  'no-edge-router-for-identity',
  /** No service edge router policy gives the service an edge router. */
  'no-edge-router-for-service',
  /** Both have edge routers, but no common edge router. */
  'no-common-edge-router',
  /** A session is granted, but all common edge routers are offline. */
  'all-common-edge-routers-offline',
  /** A session is granted and a common edge router is online, but the service has no terminator. */
  'no-terminators',
  /** A session is granted, and a common edge router is online. */
  'granted',
] as const

/** The reason of a decision: the first obstacle, or the state of a granted access. */
export type Reason = (typeof REASONS)[number]

/** A missing right of a party at an edge router, found before any policy is evaluated. */
export type PartyLack = 'not-a-tunneler' | 'api-session-over' | 'factor-missing' | 'service-session-over'

/** The reason of a decision. A party at an edge router may lack rights that a caller of the APIs does not need. */
export type DecisionReason = Reason | PartyLack | 'other-edge-router'

/** The grant of service policies of one type: the policy with the lowest id, and its posture checks. */
export interface GuardedGrant {
  readonly policyId: string
  readonly type: AccessType
  readonly checks: readonly PostureCheck[]
}

/** The reports of an endpoint in one API session; empty without reports. */
export interface SessionReport {
  readonly data: PostureData
  readonly apiSessionId: string
}

/** The edge routers between an identity and a service; `online` lists the common routers that are online, where it matters. */
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
  /** The expiry of its API session, epoch ms; undefined without an API session. */
  readonly endsAt: number | undefined
  /** True when its router judges posture: a failure by the reports of this controller then refuses nothing. */
  readonly isJudgedThere: boolean
}

/** All facts for the decision whether an identity may dial or bind a service. */
export interface DecisionFacts {
  /** Undefined for an unknown identity. `disabledUntil` is epoch ms, and null when disabled for good. */
  readonly identity: { readonly isDisabled: boolean; readonly disabledUntil?: number | null } | undefined
  readonly hasService: boolean
  /** The grants of service policies of either type that select both. */
  readonly grants: readonly GuardedGrant[]
  /** True when a service policy of the type selects both, but not within its term; only explanations look. */
  readonly hasPolicyOutOfTerm?: boolean | undefined
  /** Undefined when posture does not matter: every policy passes. */
  readonly posture: SessionReport | undefined
  /** Undefined when edge routers do not matter. */
  readonly routers: RoutersInQuestion | undefined
  /** The number of the service's terminators, for a dial; undefined when it does not matter. */
  readonly terminators?: number | undefined
  /** Undefined for a caller of the APIs. */
  readonly party?: PartyFacts | undefined
  /** True when every passing policy is named, as by deployed controllers; otherwise only the first. */
  readonly namesEveryPolicy: boolean
}

/** The decision whether an identity may dial or bind a service, with its reason. */
export interface Decision {
  readonly verdict: 'allowed' | 'refused'
  /** The first obstacle; `granted` without an obstacle. */
  readonly reason: DecisionReason
  /** The ids of the service policies that grant the access and pass posture, even if another obstacle refuses it. */
  readonly policies: readonly string[]
  /** The ids of the edge routers that both may use, ascending; empty when edge routers do not matter. */
  readonly routers: readonly string[]
  /** The next instant (epoch ms) at which the decision may change by itself; undefined when it cannot. */
  readonly until: number | undefined
  /** At an edge router: true when the access depends on reports of the endpoint, which must keep passing. */
  readonly isByReports: boolean
}

/** The grants behind an access, and the instant until which they hold. */
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
  'no-policy-in-force': ({ facts, ofType }) => ofType.length === 0 && facts.hasPolicyOutOfTerm === true,
  'no-policy-for-pair': ({ facts }) => facts.grants.length === 0,
  'only-other-type': ({ ofType }) => ofType.length === 0,
  'posture-failing': ({ facts, carrying }) => carrying === undefined && facts.party?.isJudgedThere !== true,
  'no-edge-router-for-identity': ({ facts }) => facts.routers?.ofIdentity === 0,
  'no-edge-router-for-service': ({ facts }) => facts.routers?.ofService === 0,
  'no-common-edge-router': ({ facts }) => facts.routers?.common.length === 0,
  'other-edge-router': ({ facts: { party, routers } }) =>
    party !== undefined && routers !== undefined && !routers.common.includes(party.routerId),
}

const POLICIES = ['no-policy-in-force', 'no-policy-for-pair', 'only-other-type'] as const
const ROUTERS = ['no-edge-router-for-identity', 'no-edge-router-for-service', 'no-common-edge-router'] as const

/** The order for callers of the APIs. */
const BY_APIS = REASONS.filter((reason): reason is Extract<Reason, Obstacle> => reason in STANDS_IN_THE_WAY)

/** The order for an edge router: its own eligibility comes before posture. */
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
 * Decides whether an identity may dial or bind a service at `now` (epoch ms). Sessions and their enforcement, circuits and terminators,
 * explanations, simulations, advice and lists of services call it; they differ in the facts that they supply.
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

/** Selects the grants of one type that pass posture; undefined when none passes. */
function carriedBy(
  grants: readonly GuardedGrant[],
  { posture, party, namesEveryPolicy }: DecisionFacts,
  now: number,
): Carrying | undefined {
  if (posture === undefined) return carriedByAll(grants, namesEveryPolicy)
  const { data, apiSessionId } = posture
  // A grant that passes without any report keeps passing at a router, whatever the endpoint reports.
  if (party !== undefined) {
    const unasked = grants.filter((grant) => isPassing(grant, emptyPostureData(), apiSessionId, now))
    if (unasked.length > 0) return carriedByAll(unasked, namesEveryPolicy)
  }
  const first = firstPassing(grants, data, apiSessionId, now)
  if (first === undefined) return undefined
  const passing = namesEveryPolicy ? grants.filter((grant) => isPassing(grant, data, apiSessionId, now)) : [first]
  const until = nextPolicyDeadline(passing, data, apiSessionId, now)
  return { policies: passing.map(({ policyId }) => policyId), until, isByReports: party !== undefined }
}

function carriedByAll(grants: readonly GuardedGrant[], namesEveryPolicy: boolean): Carrying {
  const named = namesEveryPolicy ? grants : grants.slice(0, 1)
  return { policies: named.map(({ policyId }) => policyId), until: undefined, isByReports: false }
}

function isPassing(grant: GuardedGrant, data: PostureData, apiSessionId: string, now: number): boolean {
  return firstPassing([grant], data, apiSessionId, now) !== undefined
}
