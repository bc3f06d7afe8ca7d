import type { z } from 'zod'
import { invalidField, notFound } from '../../base/errors.ts'
import type { EngineContext } from '../../context/context.ts'
import { edgesOf } from '../../facts/insight/graph/index.ts'
import { classesWithin, type Divided, divide, isWithin, type Scope } from '../../facts/insight/reach/divide.rules.ts'
import {
  type AccessMap,
  type MapGroup,
  type MapRequest,
  type ScopeMembersRequest,
  ScopeSteps,
} from '../../facts/insight/reach/reach.resource.ts'
import { readRequest } from '../../kernel/declaration/read-body.ts'
import { type FoundMembers, pageOfClasses } from './member-pages.ts'
import type { Names } from './names.ts'
import { inSlices, type MapSide, type Partition } from './partition.ts'

/** The access to dial or bind within two scopes, in few groups. Error: `COULD_NOT_VALIDATE` for an invalid scope. */
export async function accessMap(
  context: EngineContext,
  partition: Partition,
  request: z.output<typeof MapRequest>,
): Promise<AccessMap> {
  const question = JSON.stringify(request)
  const map = partition.maps.get(question) ?? drawMap(context, partition, request)
  partition.maps.set(question, map)
  return { ...(await map), revision: partition.place.revision }
}

async function drawMap(
  { turns }: EngineContext,
  partition: Partition,
  { type, groups: most, ...within }: z.output<typeof MapRequest>,
): Promise<AccessMap> {
  const { policies } = partition
  const isOfType = (place: number) => policies[place]?.type === type
  const divided = async (kind: 'identities' | 'services'): Promise<MapSide> => {
    const scope = readScope(kind, within[kind])
    const classes = await inSlices(turns, classesWithin(partition.kinds.get(kind)?.classes ?? [], scope))
    return { scope, classes, ...(await inSlices(turns, divide(classes, most, isOfType))) }
  }
  const side = (kind: 'identities' | 'services') => {
    const sides = partition.sides.get(kind)
    const question = `${type} ${most} ${within[kind]}`
    const known = sides?.get(question) ?? divided(kind)
    sides?.set(question, known)
    return known
  }
  const [from, to] = [await side('identities'), await side('services')]
  const edges = await inSlices(turns, edgesOf(type, policies, endOf(from), endOf(to)))
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
      policies: places.flatMap((place) => policies[place] ?? []).map(({ id, name }) => ({ id, name })),
    })),
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

function shown({ scope, groups, count }: Divided & { readonly scope: Scope }): AccessMap['identities'] {
  return {
    count,
    groups: groups.map(
      ({ steps, attributes, partOf, count: size, isRest }): MapGroup => ({
        scope: JSON.stringify([...scope, ...steps]),
        roleAttributes: attributes,
        partOf,
        count: size,
        isRest,
      }),
    ),
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
