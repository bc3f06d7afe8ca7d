import { type RoleSelector, readRoles, selects } from '../roles.ts'
import type { PresentEntity, Witness } from './invariant.ts'

/** What an entity must be to break an invariant: selected by each of some lists, and excepted by none. */
export interface Demand {
  readonly selectedBy: readonly RoleSelector[]
  readonly exceptedBy: RoleSelector | undefined
}

/** Whether an entity with these role attributes is what is demanded; `id` is empty for one that is not there yet. */
export function fulfils(
  { selectedBy, exceptedBy }: Demand,
  entity: Pick<PresentEntity, 'id' | 'roleAttributes'>,
): boolean {
  return !(exceptedBy && selects(exceptedBy, entity)) && selectedBy.every((selector) => selects(selector, entity))
}

/**
 * The entity with the fewest role attributes that fulfils a demand, be it there or not; undefined when there can be none.
 *
 * An entity that is there has the attributes that it has. One that could be there may have any: lists select more the more
 * attributes it has, so it needs no other than those with which each list selects it by the least, and exceptions only
 * become less likely with fewer. Entities that no list names by `@id` are covered by what could be there.
 */
export function smallest(demand: Demand, present: ReadonlyMap<string, PresentEntity>): Witness | undefined {
  const attributes = fewestAttributes(demand)
  const imagined = attributes && { id: undefined, name: undefined, roleAttributes: attributes }
  const named = new Set(demand.selectedBy.flatMap(({ roles }) => [...readRoles(roles).ids]))
  const candidates = [...named].flatMap((id) => present.get(id) ?? []).filter((entity) => fulfils(demand, entity))
  return candidates.reduce<Witness | undefined>(
    (least, entity) => (isSmaller(entity, least) ? entity : least),
    imagined,
  )
}

/** Of two that are as small, the one that is there says more. */
function isSmaller(one: Witness, other: Witness | undefined): boolean {
  if (other === undefined) return true
  const difference = one.roleAttributes.length - other.roleAttributes.length
  return difference < 0 || (difference === 0 && other.id === undefined)
}

/** The fewest role attributes that fulfil a demand without an `@id`: sorted; undefined when none do. */
function fewestAttributes(demand: Demand): readonly string[] | undefined {
  const lists = demand.selectedBy.map(leastChoices)
  // What several lists accept comes first: a small answer found early cuts the rest of the search off.
  const popularity = new Map<string, number>()
  for (const attribute of lists.flat(2)) popularity.set(attribute, (popularity.get(attribute) ?? 0) + 1)
  const weight = (choice: readonly string[]) => choice.reduce((sum, one) => sum + (popularity.get(one) ?? 0), 0)
  const ordered = lists.map((choices) => choices.toSorted((a, b) => weight(b) - weight(a)))
  let least: ReadonlySet<string> | undefined
  const search = (depth: number, held: ReadonlySet<string>): void => {
    if (least !== undefined && held.size >= least.size) return
    if (isExcepted(demand, held)) return
    const choices = ordered[depth]
    if (choices === undefined) least = held
    for (const choice of choices ?? []) search(depth + 1, new Set([...held, ...choice]))
  }
  search(0, new Set())
  return least && [...least].sort()
}

function isExcepted({ exceptedBy }: Demand, held: ReadonlySet<string>): boolean {
  return exceptedBy !== undefined && selects(exceptedBy, { id: '', roleAttributes: [...held] })
}

/** The least sets of role attributes with which a list selects an entity; none for a list of `@id` alone. */
function leastChoices({ roles, semantic }: RoleSelector): readonly (readonly string[])[] {
  const { all, attributes } = readRoles(roles)
  if (all) return [[]]
  if (attributes.length === 0) return []
  return semantic === 'AllOf' ? [attributes] : attributes.map((attribute) => [attribute])
}
