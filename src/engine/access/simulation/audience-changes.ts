import {
  type AccessIndex,
  type AccessType,
  apply,
  type IndexChange,
  revert,
  SlotSet,
} from '../../../domain/access-index/index.ts'
import type { Turns } from '../../../ports/turns.ts'

/** Services that are compared at once: their audiences of before are held meanwhile. */
const CHUNK = 32

const ACCESS_TYPES = ['Bind', 'Dial'] as const satisfies readonly AccessType[]

/** Who gains and who loses one type of access to one service. The ids, ascending, are computed when they are asked for. */
export interface AudienceChange {
  readonly serviceId: string
  readonly type: AccessType
  readonly gained: { readonly count: number; readonly ids: readonly string[] | undefined }
  readonly lost: { readonly count: number; readonly ids: readonly string[] | undefined }
}

/** The services whose audience the changes may touch, ascending. The index is as before when this resolves. */
export async function suspectServices(
  index: AccessIndex,
  changes: readonly IndexChange[],
  turns: Turns,
): Promise<readonly string[]> {
  const before = await servicesTouched(index, changes, turns)
  apply(index, changes)
  const after = await servicesTouched(index, changes, turns)
  revert(index, changes)
  const suspects = new Set<string>()
  for (const [position, { kind }] of changes.entries()) {
    const [one = new Set<string>(), other = new Set<string>()] = [before[position], after[position]]
    for (const mark of [...one, ...other]) {
      // An identity matters where its own list of services changes; a policy or service that changes, for everybody.
      if (kind === 'identities' && one.has(mark) && other.has(mark)) continue
      suspects.add(mark.slice(mark.indexOf(' ') + 1))
    }
  }
  return [...suspects].sort()
}

async function servicesTouched(
  index: AccessIndex,
  changes: readonly IndexChange[],
  turns: Turns,
): Promise<readonly ReadonlySet<string>[]> {
  const turn = turns.begin()
  const touched: ReadonlySet<string>[] = []
  for (const { kind, id } of changes) {
    const marks = ACCESS_TYPES.flatMap((type) => {
      if (kind === 'services') return [` ${id}`]
      const services =
        kind === 'identities' ? index.servicesOf(id, type) : index.selectedBy('service-policies', id, 'services')
      return services.map((service) => `${type} ${service}`)
    })
    touched.push(new Set(marks))
    await turn()
  }
  return touched
}

/**
 * Compares the audiences of services before and after the changes, in the order of `serviceIds`. While `wantsIds` says so,
 * the ids are listed too. The index is as before whenever a chunk of services is done and when the last one is.
 */
export async function* audienceChanges(
  index: AccessIndex,
  changes: readonly IndexChange[],
  serviceIds: readonly string[],
  turns: Turns,
  wantsIds: () => boolean,
): AsyncGenerator<AudienceChange> {
  const turn = turns.begin()
  // Used again for every chunk: sets of a whole network, made anew each time, would keep the collector busy.
  const before = Array.from({ length: CHUNK * ACCESS_TYPES.length }, () => new SlotSet())
  const after = new SlotSet()
  for (let from = 0, isListed = wantsIds(); from < serviceIds.length; isListed = wantsIds()) {
    // Lists are long, so only one service is listed at a time.
    const size = isListed ? 1 : CHUNK
    const pairs = serviceIds
      .slice(from, from + size)
      .flatMap((serviceId) => ACCESS_TYPES.map((type) => ({ serviceId, type })))
    from += size
    for (const [position, { serviceId, type }] of pairs.entries()) {
      index.audienceOf(serviceId, type, before[position])
      await turn()
    }
    apply(index, changes)
    const found: AudienceChange[] = []
    for (const [position, { serviceId, type }] of pairs.entries()) {
      const known = before[position] ?? new SlotSet()
      index.audienceOf(serviceId, type, after)
      found.push({
        serviceId,
        type,
        gained: {
          count: after.countWithout(known),
          ids: isListed ? index.identitiesIn(after.without(known)) : undefined,
        },
        // Whoever is removed by the changes has no id now; the ids of `lost` are read when the index is as before.
        lost: { count: known.countWithout(after), ids: undefined },
      })
      if (isListed) known.removeAll(after)
      await turn()
    }
    revert(index, changes)
    for (const [position, change] of found.entries()) {
      const known = before[position]
      if (!isListed || known === undefined) yield change
      else yield { ...change, lost: { ...change.lost, ids: index.identitiesIn(known) } }
      await turn()
    }
  }
}
