import type { EngineContext } from '../../context/context.ts'
import { KeptAnswer } from '../../context/kept-answer.ts'
import { servicePolicies } from '../../facts/access/policy.resource.ts'
import { ENDS } from '../../facts/insight/graph/index.ts'
import { sightings } from '../../facts/login/sighting.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { both, ids as idsAre } from '../../kernel/filter/index.ts'
import type { ReadCollection } from '../../ports/record-storage.ts'
import { type FindingSources, type Found, readEach, UNSEEN_MS } from './found-credentials.ts'
import type { Partition } from './partition.ts'

/** Policies of the finding that are read at most. */
const MOST_UNUSED = 1000
/** Identities that are asked for at once: the first that was seen is enough. */
const AT_ONCE = 100

/** Service policies whose identities all stayed away, by their ids, and the number of policies that were judged. */
export class AbandonedPolicies extends KeptAnswer<{ readonly ids: readonly string[]; readonly judged: number }> {
  constructor(context: EngineContext, partition: () => Promise<Partition>) {
    super(context.clock, async () => abandonedIn(context, await partition()))
  }
}

/**
 * Service policies that nobody can have used for 30 days: none of the identities that they select used the network in that time, and they
 * were not changed in it either. Which policy a dial went by is not recorded, so a policy of identities that are there counts as used.
 */
export async function unusedPolicies({ context, abandoned }: FindingSources): Promise<Found> {
  const { storage, clock, turns } = context
  const { ids, judged } = await abandoned.read()
  const before = clock.now() - UNSEEN_MS
  const policies = await storage.read((tx) => readEach(tx.collection(servicePolicies), ids, turns))
  return { ids: policies.filter(({ updatedAt }) => updatedAt < before).map(({ id }) => id), judged }
}

async function abandonedIn({ storage, clock, turns }: EngineContext, partition: Partition) {
  const before = clock.now() - UNSEEN_MS
  const [selectsIdentities, selectsServices] = await partition.selecting(turns)
  const left = new Set<number>()
  for (const [place, { type }] of partition.policies.entries()) {
    if (ENDS[type].from !== 'identities' || ENDS[type].to !== 'services') continue
    if (selectsIdentities.has(place) && selectsServices.has(place)) left.add(place)
  }
  return storage.read(async (tx) => {
    const seen = tx.collection(sightings)
    // Until days were noted for that long, an identity without a day may have been there.
    const noted = await seen.findIds({ where: compared('createdAt', '<=', before), limit: 1 })
    if (noted.length === 0) return { ids: [], judged: 0 }
    const judged = left.size
    // An edge router dials and hosts for its own identity without a login.
    const routers = new Set(partition.kinds.get('edge-routers')?.members.flat())
    const { classes = [], members = [] } = partition.kinds.get('identities') ?? {}
    const turn = turns.begin()
    for (const [at, { policies }] of classes.entries()) {
      await turn()
      const open = policies.filter((place) => left.has(place))
      const own = members[at] ?? []
      if (open.length === 0 || own.length === 0) continue
      if (own.some((id) => routers.has(id)) || (await isAnySeen(seen, own, before))) {
        for (const place of open) left.delete(place)
      }
    }
    return { ids: [...left].slice(0, MOST_UNUSED).map((place) => partition.policies[place]?.id ?? ''), judged }
  })
}

async function isAnySeen(
  seen: ReadCollection<RecordOf<typeof sightings>>,
  identities: readonly string[],
  after: number,
): Promise<boolean> {
  for (let at = 0; at < identities.length; at += AT_ONCE) {
    const where = both(idsAre(identities.slice(at, at + AT_ONCE)), compared('seenAt', '>=', after))
    if ((await seen.findIds({ ...(where && { where }), limit: 1 })).length > 0) return true
  }
  return false
}

function compared(field: 'createdAt' | 'seenAt', operator: '<=' | '>=', value: number) {
  return { kind: 'compare', operand: { kind: 'field', field }, operator, value } as const
}
