import { type AccessIndex, type AccessType, SlotSet } from '../facts/access/index/index.ts'

/** The most moves that are kept. For a session that last looked before the oldest of them, only its list is compared. */
const MOST_MOVES = 256
/** Services of one policy that are followed one by one; beyond it, every identity that the policy selects counts as concerned. */
const MOST_SERVICES = 1_000

const ACCESS_TYPES = ['Bind', 'Dial'] as const satisfies readonly AccessType[]

type Concerned = SlotSet | 'everybody'

/** The grant of a service policy, with its identities and services. */
interface Grant {
  readonly type: AccessType | undefined
  readonly identities: SlotSet
  readonly services: readonly string[]
}

/**
 * The identities that gained or lost access to a service, or have it by a posture check that changed. The index remembers them for a while,
 * because a change may be undone before an endpoint asks. An identity that takes the place of another in the index may count as concerned.
 */
export class AccessMoves {
  readonly #moves: { readonly revision: number; readonly identities: Concerned }[] = []
  #pending: Concerned[] = []

  /** Changes an entity or policy of the index, and notes the identities that the change concerns. */
  during(index: AccessIndex, { kind, id }: { readonly kind: string; readonly id: string }, change: () => void): void {
    const before = LOOKS.get(kind)?.(index, id)
    change()
    const concerned = before?.(index)
    if (concerned === 'everybody' || (concerned !== undefined && concerned.size > 0)) this.#pending.push(concerned)
  }

  /** Settles the noted moves: they became true with a revision of the store. */
  settle(revision: number): void {
    for (const identities of this.#pending) this.#moves.push({ revision, identities })
    this.#pending = []
    this.#moves.splice(0, this.#moves.length - MOST_MOVES)
  }

  /** Reports whether a change after a revision concerned an identity. */
  concern(index: AccessIndex, since: number, identityId: string): boolean {
    const [slot] = index.entitiesNamed('identities', [identityId]).slots()
    if (slot === undefined) return false
    return this.#moves.some(
      ({ revision, identities }) => revision > since && (identities === 'everybody' || identities.has(slot)),
    )
  }
}

/**
 * Looks at an entity before its change. The returned function looks again afterwards and answers the identities that the change concerns.
 */
const LOOKS: ReadonlyMap<string, (index: AccessIndex, id: string) => (index: AccessIndex) => Concerned> = new Map([
  [
    'service-policies',
    (index, id) => {
      const wasKnown = index.has('service-policies', id)
      const before = grantOf(index, id)
      // Another process created and deleted it before this one looked: the index does not know which identities it granted access.
      return (changed) =>
        wasKnown || changed.has('service-policies', id)
          ? concernedByPolicy(changed, id, before, grantOf(changed, id))
          : 'everybody'
    },
  ],
  [
    'services',
    (index, id) => {
      const before = ACCESS_TYPES.map((type) => index.audienceOf(id, type))
      return (changed) =>
        union(ACCESS_TYPES.map((type, at) => difference(before[at] ?? new SlotSet(), changed.audienceOf(id, type))))
    },
  ],
  [
    'identities',
    (index, id) => {
      const before = ACCESS_TYPES.map((type) => index.reachOf(id, type))
      return (changed) => {
        const isMoved = ACCESS_TYPES.some(
          (type, at) => difference(before[at] ?? new SlotSet(), changed.reachOf(id, type)).size > 0,
        )
        return isMoved ? changed.entitiesNamed('identities', [id]) : new SlotSet()
      }
    },
  ],
  [
    'posture-checks',
    (index, id) => {
      const before = concernedByCheck(index, id)
      return (changed) => union([before, concernedByCheck(changed, id)])
    },
  ],
])

function grantOf(index: AccessIndex, id: string): Grant {
  return {
    type: index.typeOf(id),
    identities: index.selection('service-policies', id, 'identities'),
    services: index.selectedBy('service-policies', id, 'services'),
  }
}

/**
 * The identities whose access changes with a policy: before it or after it, but not both, they reach a service that no
 * other policy opens to them.
 */
function concernedByPolicy(index: AccessIndex, id: string, before: Grant, after: Grant): SlotSet {
  const everybody = union([before.identities, after.identities])
  const services = new Set([...before.services, ...after.services])
  if (services.size > MOST_SERVICES) return everybody
  const [were, are] = [new Set(before.services), new Set(after.services)]
  const concerned = new SlotSet()
  const others = new SlotSet()
  for (const service of services) {
    for (const type of ACCESS_TYPES) {
      const isGranted = (grant: Grant, granted: ReadonlySet<string>) => grant.type === type && granted.has(service)
      if (!isGranted(before, were) && !isGranted(after, are)) continue
      index.audienceOf(service, type, others, id)
      const lost = isGranted(before, were) ? before.identities.without(others) : new SlotSet()
      const gained = isGranted(after, are) ? after.identities.without(others) : new SlotSet()
      concerned.addAll(difference(lost, gained))
    }
    if (everybody.countWithout(concerned) === 0) break
  }
  return concerned
}

function concernedByCheck(index: AccessIndex, id: string): SlotSet {
  const policies = index.policiesSelecting('service-policies', 'posture-checks', id)
  return union(policies.map((policy) => index.selection('service-policies', policy, 'identities')))
}

/** Lists the slots that are in one of the sets and not in the other. */
function difference(one: SlotSet, other: SlotSet): SlotSet {
  return union([one.without(other), other.without(one)])
}

function union(sets: readonly SlotSet[]): SlotSet {
  const all = new SlotSet()
  for (const set of sets) all.addAll(set)
  return all
}
