import { type AccessIndex, type AccessType, apply, type IndexChange, revert } from '../../domain/access-index/index.ts'
import type { Turns } from '../../ports/turns.ts'

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
  for (let from = 0, isListed = wantsIds(); from < serviceIds.length; isListed = wantsIds()) {
    // Lists are long, so only one service is listed at a time.
    const size = isListed ? 1 : CHUNK
    const pairs = serviceIds
      .slice(from, from + size)
      .flatMap((serviceId) => ACCESS_TYPES.map((type) => ({ serviceId, type })))
    from += size
    const before = []
    for (const { serviceId, type } of pairs) {
      before.push(index.audienceOf(serviceId, type))
      await turn()
    }
    apply(index, changes)
    const grown = []
    for (const [position, { serviceId, type }] of pairs.entries()) {
      const gained = index.audienceOf(serviceId, type)
      const known = before[position]
      if (known !== undefined) {
        const stays = known.copy()
        stays.retainAll(gained)
        gained.removeAll(stays)
        known.removeAll(stays)
      }
      grown.push({ count: gained.size, ids: isListed ? index.identitiesIn(gained) : undefined })
      await turn()
    }
    revert(index, changes)
    for (const [position, { serviceId, type }] of pairs.entries()) {
      const [gained, lost] = [grown[position], before[position]]
      if (gained === undefined || lost === undefined) continue
      const ids = isListed ? index.identitiesIn(lost) : undefined
      yield { serviceId, type, gained, lost: { count: lost.size, ids } }
      await turn()
    }
  }
}
