import type { Roster } from '../access-index/index.ts'
import type { RolePolicies } from './role-policies.ts'

/** Entities of one kind that have the same role attributes and that the same policies select: nothing tells them apart. */
export interface EntityClass {
  /** In code-unit order. */
  readonly attributes: readonly string[]
  /** The places of the policies, ascending. */
  readonly policies: readonly number[]
  count: number
}

/** The entities of one kind by class. */
export interface Classified {
  readonly classes: readonly EntityClass[]
  /** The class of each entity, by its slot in the roster; -1 for a slot that nobody has. */
  readonly classOf: Int32Array
  readonly roster: Roster
}

/** How many entities are looked at between two yields. */
const PIECE = 64

/** Sorts the entities of a roster into classes. It yields between small pieces of work. */
export function* classify(roster: Roster, policies: RolePolicies): Generator<void, Classified> {
  const classes: EntityClass[] = []
  const byAttributes = new Map<string, number>()
  const byNaming = new Map<string, number>()
  const classOf = new Int32Array(roster.ids.length).fill(-1)
  const add = (attributes: readonly string[], selecting: readonly number[]) =>
    classes.push({ attributes, policies: selecting, count: 0 }) - 1
  for (const [slot, id] of roster.ids.entries()) {
    if (slot % PIECE === 0) yield
    if (id === undefined) continue
    const attributes = roster.attributesOf(slot).toSorted()
    const key = JSON.stringify(attributes)
    let place = byAttributes.get(key)
    if (place === undefined) {
      place = add(attributes, policies.selecting(attributes))
      byAttributes.set(key, place)
    }
    const naming = policies.naming(id)
    if (naming.length > 0) place = withNaming(place, naming)
    const own = classes[place]
    if (own !== undefined) own.count += 1
    classOf[slot] = place
  }
  return { classes, classOf, roster }

  /** The class of those among a class whom some policies name by id. */
  function withNaming(place: number, naming: readonly number[]): number {
    const { attributes = [], policies: selecting = [] } = classes[place] ?? {}
    const all = [...new Set([...selecting, ...naming])].sort((a, b) => a - b)
    const key = `${place} ${all.join()}`
    const known = byNaming.get(key) ?? add(attributes, all)
    byNaming.set(key, known)
    return known
  }
}
