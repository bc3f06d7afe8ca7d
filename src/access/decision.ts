import { grouped } from '../base/collections.ts'
import type { EngineContext } from '../context/context.ts'
import { type Decision, type DecisionFacts, decideAccess, type GuardedGrant } from '../facts/access/decision.rules.ts'
import type { AccessIndex, AccessType, Grant } from '../facts/access/index/index.ts'
import { servicePolicies } from '../facts/access/policy.resource.ts'
import { evaluatePolicies, type PolicyFailure } from '../facts/access/posture/rules/index.ts'
import { ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { type CheckedGrant, checkedGrants, posturesOf } from './posture/posture-of.ts'

/** The services that an identity may dial or bind, whatever its posture: ids in ascending order. */
export function reachableServices(index: AccessIndex, identityId: string): readonly string[] {
  return index.servicesOf(identityId)
}

/** The identity and the service in question, and the API session whose state counts; undefined without a session. */
export interface AccessPair {
  readonly identityId: string
  readonly serviceId: string
  readonly apiSessionId?: string | undefined
}

/** An access of one type that is in question. */
export interface AccessQuestion extends AccessPair {
  readonly type: AccessType
}

/** Which facts are in question. */
export interface FactsInQuestion {
  /**
   * `reported`, the default: the reports of endpoints count. `brought`: the caller brings reports, and the posture
   * checks are read. `aside`: posture counts for nothing, and no posture check is read.
   */
  readonly posture?: 'reported' | 'brought' | 'aside'
  /** Whether it matters which edge routers both may use; false by default. */
  readonly routers?: boolean
  /** Whether each policy is a grant of its own; as the profile of the controller says by default. */
  readonly everyPolicy?: boolean
  /** The index to ask; the one of the store by default. */
  readonly index?: AccessIndex
  /** Posture checks that earlier questions of the same snapshot read. This question adds its own. */
  readonly known?: Map<Grant, CheckedGrant>
}

/** The facts of a decision, with the records of the posture checks. */
export interface LoadedFacts extends DecisionFacts {
  readonly grants: readonly CheckedGrant[]
}

/**
 * Loads the facts of many questions, in their order, from one snapshot: four reads at most, whatever their number. Pairs that
 * the same policies select, with the same API session, share their facts where edge routers are not in question. Identities
 * that are disabled are named by the caller, which knows them.
 */
export async function factsFor(
  context: EngineContext,
  tx: ReadTransaction,
  pairs: readonly AccessPair[],
  asked: FactsInQuestion = {},
): Promise<readonly LoadedFacts[]> {
  const { posture = 'reported', routers = false, known = new Map<Grant, CheckedGrant>() } = asked
  const index = asked.index ?? (await context.access.at(tx))
  const namesEveryPolicy = asked.everyPolicy ?? context.settings.profile.namesEveryPolicy
  const granted = grantsOfPairs(index, pairs, namesEveryPolicy)
  const unread = new Set([...new Set(granted)].flat().filter((grant) => !known.has(grant)))
  const read = posture === 'aside' ? unasked(unread) : await checkedGrants(tx, unread)
  for (const [grant, checked] of read) known.set(grant, checked)
  const grants = shared(granted, (list) => list.flatMap((grant) => known.get(grant) ?? []))
  const isGuarded = (position: number) => grants[position]?.some(({ checks }) => checks.length > 0) === true
  const reporting = posture === 'reported' ? pairs.filter((_, position) => isGuarded(position)) : []
  const postureOf = await posturesOf(tx, reporting.map(sessionOf))
  const sharing = new Map<readonly CheckedGrant[], Map<string, LoadedFacts>>()
  const turn = context.turns.begin()
  const facts: LoadedFacts[] = []
  for (const [position, pair] of pairs.entries()) {
    const own = grants[position] ?? []
    const session = sessionOf(pair)
    const hasService = index.has('services', pair.serviceId)
    const key = `${session.identityId} ${session.apiSessionId} ${hasService}`
    const same = sharing.get(own) ?? new Map<string, LoadedFacts>()
    const made = routers ? undefined : same.get(key)
    const loaded = made ?? {
      identity: index.has('identities', pair.identityId) ? { isDisabled: false } : undefined,
      hasService,
      grants: own,
      posture: posture === 'reported' ? { data: postureOf(session), apiSessionId: session.apiSessionId } : undefined,
      routers: routers ? index.edgeRoutersBetween(pair.identityId, pair.serviceId) : undefined,
      namesEveryPolicy,
    }
    sharing.set(own, same.set(key, loaded))
    facts.push(loaded)
    await turn()
  }
  return facts
}

/** Decides many questions, in their order, by the facts of one snapshot at `now` (epoch ms). */
export async function decide(
  context: EngineContext,
  tx: ReadTransaction,
  questions: readonly AccessQuestion[],
  now: number,
  asked: FactsInQuestion = {},
): Promise<readonly Decision[]> {
  const facts = await factsFor(context, tx, questions, asked)
  return questions.flatMap(({ type }, position) => {
    const loaded = facts[position]
    return loaded === undefined ? [] : [decideAccess(type, loaded, now)]
  })
}

/** Why posture refuses the grants of service policies at `now` (epoch ms): for each policy, by its name, the failing checks. */
export async function failuresOf(
  tx: ReadTransaction,
  type: AccessType,
  { grants, posture }: LoadedFacts,
  now: number,
): Promise<readonly PolicyFailure[]> {
  if (posture === undefined) return []
  const ofType = grants.filter((grant) => grant.type === type)
  const { items } = await tx.collection(servicePolicies).find({ where: ids(ofType.map(({ policyId }) => policyId)) })
  const names = new Map(items.map(({ id, name }) => [id, name]))
  const policies = ofType.map(({ policyId, checks }) => ({ id: policyId, name: names.get(policyId) ?? '', checks }))
  const decision = evaluatePolicies(policies, posture.data, posture.apiSessionId, now)
  return decision.granted ? [] : decision.failures
}

/** Whether a grant carries an access by itself at `now` (epoch ms). */
export function carries(grant: GuardedGrant, facts: DecisionFacts, now: number): boolean {
  return decideAccess(grant.type, { ...facts, grants: [grant] }, now).policies.length > 0
}

/** The grants at each pair, in order. Services that the same policies select for an identity get the same list. */
function grantsOfPairs(
  index: AccessIndex,
  pairs: readonly AccessPair[],
  isEvery: boolean,
): readonly (readonly Grant[])[] {
  const positions = grouped(pairs.keys(), (position) => pairs[position]?.identityId ?? '')
  const granted: (readonly Grant[])[] = pairs.map(() => [])
  for (const [identityId, own] of positions) {
    const serviceIds = own.map((position) => pairs[position]?.serviceId ?? '')
    const lists = isEvery ? index.separateGrantsOf(identityId, serviceIds) : index.grantsOf(identityId, serviceIds)
    for (const [place, position] of own.entries()) granted[position] = lists[place] ?? []
  }
  return granted
}

function unasked(grants: Iterable<Grant>): ReadonlyMap<Grant, CheckedGrant> {
  return new Map(
    Array.from(grants, (grant) => {
      const { policyId, type } = grant
      return [grant, { policyId, type, checks: [], checkRecords: [] }]
    }),
  )
}

function sessionOf({ identityId, apiSessionId = '' }: AccessPair) {
  return { identityId, apiSessionId }
}

/** The value of each list, computed once for lists that are the same. */
function shared<T, V>(lists: readonly T[], compute: (list: T) => V): readonly V[] {
  const values = new Map<T, V>()
  return lists.map((list) => {
    const value = values.get(list) ?? compute(list)
    values.set(list, value)
    return value
  })
}
