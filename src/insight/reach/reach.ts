import type { z } from 'zod'
import { byIdOrName } from '../../access/explain.ts'
import { invalidField, notFound } from '../../base/errors.ts'
import type { NameEntry } from '../../base/name-order.ts'
import type { EngineContext } from '../../context/context.ts'
import { type AccessIndex, type Grant, SlotSet } from '../../facts/access/index/index.ts'
import { servicePolicies } from '../../facts/access/policy.resource.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import type { Reach, Reached, ReachRequest } from '../../facts/insight/reach/reach.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import { FEW, pageOfIds, pageOfNames } from './member-pages.ts'
import type { Names } from './names.ts'

/**
 * A page of the services that an identity reaches, or of the identities that reach a service, with the policies that grant it.
 * Errors: `NOT_FOUND` for an unknown id or name, `COULD_NOT_VALIDATE` where not exactly one of both is named.
 */
export async function reachOf(
  context: EngineContext,
  names: Names,
  { identity, service, type, ...page }: z.output<typeof ReachRequest>,
): Promise<Reach> {
  const asked = identity ?? service
  if (asked === undefined || (identity !== undefined && service !== undefined)) {
    throw invalidField('identity', 'name either an identity or a service', identity ?? '')
  }
  const { storage, access, presence, turns } = context
  const [resource, other] =
    identity === undefined ? ([services, 'identities'] as const) : ([identities, 'services'] as const)
  const { entity, index } = await storage.read(async (tx) => ({
    entity: await byIdOrName(tx, resource, asked),
    index: await access.at(tx),
  }))
  if (entity === undefined) throw notFound(resource.definition.singular, asked)
  const reach = (one: 'Dial' | 'Bind') =>
    identity === undefined ? index.audienceOf(entity.id, one) : index.reachOf(entity.id, one)
  const [dial, bind] = [reach('Dial'), reach('Bind')]
  const wanted = new SlotSet()
  for (const [one, set] of [
    ['Dial', dial],
    ['Bind', bind],
  ] as const)
    if (type === undefined || type === one) wanted.addAll(set)
  const order = names.get(other)
  if (order === undefined) throw notFound(resource.definition.singular, asked)
  const idsIn = () => (identity === undefined ? index.identitiesIn(wanted) : index.servicesIn(wanted))
  const { entries, nextCursor } =
    wanted.size <= FEW
      ? await pageOfIds(idsIn(), order, page, turns)
      : await pageOfNames(order, (id) => index.isIn(wanted, other, id), page, turns)
  const grants = grantsOf(index, identity === undefined ? undefined : entity.id, entity.id, entries)
  const reached = await named(context, entries, grants)
  return {
    kind: other === 'services' ? 'identities' : 'services',
    entity: { id: entity.id, name: entity.name },
    counts: { dial: dial.size, bind: bind.size },
    reached: reached.map((one) => ({ ...one, status: other === 'services' ? null : presence.statusOf(one.id) })),
    nextCursor,
  }
}

/** The grants of each entry of a page: of one identity at all these services, or of all these identities at one service. */
function grantsOf(
  index: AccessIndex,
  identityId: string | undefined,
  serviceId: string,
  entries: readonly NameEntry[],
): readonly (readonly Grant[])[] {
  if (identityId !== undefined) {
    return index.separateGrantsOf(
      identityId,
      entries.map(({ id }) => id),
    )
  }
  return entries.map(({ id }) => index.separateGrantsOf(id, [serviceId])[0] ?? [])
}

async function named(
  { storage }: EngineContext,
  entries: readonly NameEntry[],
  grants: readonly (readonly Grant[])[],
): Promise<readonly Omit<Reached, 'status'>[]> {
  const wanted = new Set(grants.flat().map(({ policyId }) => policyId))
  const { items } = await storage.read((tx) => tx.collection(servicePolicies).find({ where: ids(wanted) }))
  const names = new Map(items.map(({ id, name }) => [id, name]))
  return entries.map(({ id, name }, place) => {
    const own = grants[place] ?? []
    return {
      id,
      name,
      types: [...new Set(own.map(({ type }) => type))].sort(),
      policies: own.map(({ policyId, type, checks }) => ({
        id: policyId,
        name: names.get(policyId) ?? policyId,
        type,
        isGuarded: checks.length > 0,
      })),
    }
  })
}
