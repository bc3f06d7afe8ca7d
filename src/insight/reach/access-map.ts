import type { z } from 'zod'
import { invalidField, notFound } from '../../base/errors.ts'
import { isBefore } from '../../base/name-order.ts'
import type { EngineContext } from '../../context/context.ts'
import { type EntityClass, edgesOf, policiesAmong } from '../../facts/insight/graph/index.ts'
import { divide, isWithin, placesWithin, type Scope } from '../../facts/insight/reach/divide.rules.ts'
import {
  type AccessMap,
  type MapGroup,
  type MapKind,
  type MapPolicy,
  type MapRequest,
  type ScopeMembersRequest,
  ScopeSteps,
} from '../../facts/insight/reach/reach.resource.ts'
import { readRequest } from '../../kernel/declaration/read-body.ts'
import { type FoundMembers, pageOfClasses } from './member-pages.ts'
import type { Names } from './names.ts'
import { inSlices, type MapSide, type Partition } from './partition.ts'

/** The access to dial or bind within two scopes, by name or in few groups. Error: `COULD_NOT_VALIDATE` for an invalid scope. */
export async function accessMap(
  context: EngineContext,
  partition: Partition,
  names: Names,
  request: z.output<typeof MapRequest>,
): Promise<AccessMap> {
  const question = JSON.stringify(request)
  const known = partition.maps.get(question) ?? drawMap(context, partition, request)
  partition.maps.set(question, known)
  return { ...byName(await known, names), revision: partition.place.revision }
}

/** A map with the names of its entities, in their order. A new name changes no class, so that maps are kept without names. */
function byName(map: AccessMap, names: Names): AccessMap {
  const side = (kind: 'identities' | 'services') => {
    const order = names.get(kind)
    const named = [...map[kind].groups.entries()].map(([place, group]) => {
      const { id = '' } = group.entity ?? {}
      const { name = id, folded = id } = order?.get(id) ?? {}
      return { place, folded, id, group: group.entity ? { ...group, entity: { id, name } } : group }
    })
    if (map[kind].groups.some(({ entity }) => entity)) named.sort((a, b) => (isBefore(a, b) ? -1 : 1))
    const placeNow = new Map(named.map(({ place }, now) => [place, now]))
    const now = (place: number) => placeNow.get(place) ?? place
    return { now, kind: { ...map[kind], groups: named.map(({ group }) => group) } }
  }
  const [from, to] = [side('identities'), side('services')]
  const moved = ({ now }: typeof from, groups: MapPolicy['identities']) =>
    groups.map(({ group, count }) => ({ group: now(group), count })).sort((a, b) => a.group - b.group)
  return {
    ...map,
    identities: from.kind,
    services: to.kind,
    links: map.links
      .map((link) => ({ ...link, from: from.now(link.from), to: to.now(link.to) }))
      .sort((a, b) => a.from - b.from || a.to - b.to),
    policies: map.policies.map((policy) => ({
      ...policy,
      identities: moved(from, policy.identities),
      services: moved(to, policy.services),
    })),
  }
}

async function drawMap(
  { turns }: EngineContext,
  partition: Partition,
  request: z.output<typeof MapRequest>,
): Promise<AccessMap> {
  const { policies } = partition
  const { type, groups: most } = request
  const isOfType = (place: number) => policies[place]?.type === type
  const divided = async (kind: 'identities' | 'services'): Promise<MapSide> => {
    const scope = readScope(kind, request[kind])
    const by = request[`${kind}By`]
    const { classes = [], members = [] } = partition.kinds.get(kind) ?? {}
    const places = await inSlices(turns, placesWithin(classes, scope))
    const within = places.flatMap((place) => classes[place] ?? [])
    const groups = await inSlices(turns, divide(within, { most, isOfType, by }))
    if (groups.count > most || by !== undefined) return { scope, classes: within, ids: undefined, ...groups }
    return { scope, ...eachAlone(classes, members, places), properties: groups.properties, property: -1 }
  }
  const side = (kind: 'identities' | 'services') => {
    const sides = partition.sides.get(kind)
    const question = JSON.stringify([type, most, request[kind], request[`${kind}By`]])
    const known = sides?.get(question) ?? divided(kind)
    sides?.set(question, known)
    return known
  }
  const [from, to] = [await side('identities'), await side('services')]
  const edges = await inSlices(turns, edgesOf(type, policies, endOf(from), endOf(to)))
  const granting =
    request.policies === 0 ? undefined : await inSlices(turns, policiesAmong(type, policies, endOf(from), endOf(to)))
  const named = (places: readonly number[]) =>
    places.flatMap((place) => policies[place] ?? []).map(({ id, name }) => ({ id, name }))
  return {
    revision: partition.place.revision,
    type,
    identities: shown(from),
    services: shown(to),
    links: edges.map(({ policies: places, from: left, to: right, pairs, policyCount, isGuarded }) => ({
      from: left,
      to: right,
      pairs,
      policyCount,
      isGuarded,
      policies: named(places),
    })),
    policies: (granting ?? []).slice(0, request.policies).flatMap(({ policy, from: rows, to: columns }) =>
      named([policy]).map((one) => ({
        ...one,
        isGuarded: policies[policy]?.isGuarded === true,
        identities: selected(rows),
        services: selected(columns),
      })),
    ),
    policyCount: granting?.length ?? 0,
  }
}

function selected(counts: ReadonlyMap<number, number>): readonly { group: number; count: number }[] {
  return [...counts].map(([group, count]) => ({ group, count }))
}

/** The entities of some classes, each in a group of its own. */
function eachAlone(
  classes: readonly EntityClass[],
  members: readonly (readonly string[])[],
  places: readonly number[],
): Pick<MapSide, 'classes' | 'groups' | 'groupOf' | 'count' | 'ids'> {
  const alone = places.flatMap((place) =>
    (members[place] ?? []).map((id) => ({ id, attributes: [], policies: [], ...classes[place], count: 1 })),
  )
  return {
    classes: alone,
    groups: alone.map(({ attributes }) => ({ steps: [], attributes, count: 1, isRest: false })),
    groupOf: Int32Array.from(alone.keys()),
    count: alone.length,
    ids: alone.map(({ id }) => id),
  }
}

/** A page of the members of a scope, by name. Errors: `NOT_FOUND` for a kind that the caller may not see, `COULD_NOT_VALIDATE`. */
export async function scopeMembers(
  context: EngineContext,
  partition: Partition,
  names: Names,
  { kind, scope: text, ...page }: z.output<typeof ScopeMembersRequest>,
): Promise<FoundMembers> {
  const classified = partition.kinds.get(kind)
  const order = names.get(kind)
  if (classified === undefined || order === undefined) throw notFound('kind', kind)
  const scope = readScope('scope', text)
  const turn = context.turns.begin()
  const found = new Set<number>()
  for (const [place, { attributes }] of classified.classes.entries()) {
    if (isWithin(attributes, scope)) found.add(place)
    await turn()
  }
  return pageOfClasses(context, classified, found, order, page)
}

function endOf({ classes, groupOf, groups }: MapSide) {
  return { classes, groupOf, groupCount: groups.length }
}

function shown({ scope, groups, count, ids, properties, property }: MapSide): MapKind {
  return {
    count,
    groups: groups.map(({ steps, attributes, count: size, isRest }, place): MapGroup => {
      const id = ids?.[place]
      return {
        scope: JSON.stringify([...scope, ...steps]),
        roleAttributes: attributes,
        count: size,
        isRest,
        entity: id === undefined ? null : { id, name: id },
      }
    }),
    properties: properties.map(({ attributes: roleAttributes, attributeCount, count: having }) => ({
      roleAttributes,
      roleAttributeCount: attributeCount,
      count: having,
    })),
    property,
  }
}

/** Reads a scope from the text that stands for it. */
function readScope(field: string, text: string): Scope {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidField(field, 'is no scope of an access map', text)
  }
  return readRequest(ScopeSteps, value)
}
