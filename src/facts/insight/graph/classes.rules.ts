import type { RolePolicies } from './role-policies.rules.ts'

/** Entities of one kind with the same role attributes and the same selecting policies: they are interchangeable. */
export interface EntityClass {
  /** In code-unit order. */
  readonly attributes: readonly string[]
  /** The places of the policies, ascending. */
  readonly policies: readonly number[]
  readonly count: number
}

/** The entities of one kind by class, as of one state. */
export interface Classified {
  /** A class without members has a count of zero. */
  readonly classes: readonly EntityClass[]
  /** The ids of the entities of each class. */
  readonly members: readonly (readonly string[])[]
  /** The class of each id, as of the latest state: places of classes stay the same from state to state. */
  readonly placeOf: ReadonlyMap<string, number>
}

const PIECE = 64
/** A table with more classes than this is rebuilt when most of them are empty. */
const MANY_CLASSES = 256

/** The entities of one kind by class. A change moves only the affected entities; readers may keep using an earlier state. */
export class ClassTable {
  #policies: RolePolicies
  #current: Classified
  readonly #placeOf = new Map<string, number>()
  /** The classes by role attributes, for entities that no policy names. */
  readonly #byAttributes = new Map<string, number>()
  /** The classes by role attributes and naming policies, for entities that policies select by id. */
  readonly #byNaming = new Map<string, number>()

  constructor(policies: RolePolicies) {
    this.#policies = policies
    this.#current = { classes: [], members: [], placeOf: this.#placeOf }
  }

  /** The current state: the same object until the classes change. */
  get current(): Classified {
    return this.#current
  }

  /** Reports whether most classes are empty: the table should then be rebuilt. */
  get isSparse(): boolean {
    const { classes } = this.#current
    return classes.length > MANY_CLASSES && classes.length > 2 * classes.filter(({ count }) => count > 0).length
  }

  /** Moves entities to their classes, by their role attributes; undefined for a deleted entity. It yields between small pieces of work. */
  *put(entities: Iterable<readonly [id: string, attributes: readonly string[] | undefined]>): Generator<void, void> {
    const draft = new Draft(this.#current)
    let done = 0
    for (const [id, attributes] of entities) {
      if (done % PIECE === 0) yield
      done += 1
      this.#move(draft, id, attributes)
    }
    this.#current = draft.state(this.#current)
  }

  /** Replaces the policies. It yields between small pieces of work. */
  *select(policies: RolePolicies): Generator<void, void> {
    this.#policies = policies
    const draft = new Draft(this.#current)
    const places = [...this.#byAttributes.values()]
    for (const [done, place] of places.entries()) {
      if (done % PIECE === 0) yield
      draft.select(place, policies.selecting(draft.attributesOf(place)))
    }
    // Entities that were or are named by id may belong to other classes than before.
    const named = new Set([...this.#byNaming.values()].flatMap((place) => draft.members[place] ?? []))
    for (const id of policies.named()) if (this.#placeOf.has(id)) named.add(id)
    this.#byNaming.clear()
    for (const [done, id] of [...named].entries()) {
      if (done % PIECE === 0) yield
      const place = this.#placeOf.get(id)
      if (place !== undefined) this.#move(draft, id, draft.attributesOf(place))
    }
    this.#current = draft.state(this.#current)
  }

  #move(draft: Draft, id: string, attributes: readonly string[] | undefined): void {
    const before = this.#placeOf.get(id)
    const place = attributes && this.#placeFor(draft, id, attributes.toSorted())
    if (place === before) return
    draft.move(id, before, place)
    if (place === undefined) this.#placeOf.delete(id)
    else this.#placeOf.set(id, place)
  }

  #placeFor(draft: Draft, id: string, attributes: readonly string[]): number {
    const key = JSON.stringify(attributes)
    const place = this.#byAttributes.get(key) ?? draft.add(attributes, this.#policies.selecting(attributes))
    this.#byAttributes.set(key, place)
    const naming = this.#policies.naming(id)
    if (naming.length === 0) return place
    const all = [...new Set([...draft.policiesOf(place), ...naming])].sort((a, b) => a - b)
    const namedKey = `${place} ${all.join()}`
    const named = this.#byNaming.get(namedKey) ?? draft.add(attributes, all)
    this.#byNaming.set(namedKey, named)
    return named
  }
}

function areSame(some: readonly number[], others: readonly number[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at])
}

/** The next state, which shares unchanged parts with the previous state. */
class Draft {
  readonly classes: EntityClass[]
  readonly members: (readonly string[])[]
  /** The members of classes that differ from the previous state. */
  readonly #own = new Map<number, string[]>()
  #isChanged = false

  constructor({ classes, members }: Classified) {
    this.classes = classes.slice()
    this.members = members.slice()
  }

  attributesOf(place: number): readonly string[] {
    return this.classes[place]?.attributes ?? []
  }

  policiesOf(place: number): readonly number[] {
    return this.classes[place]?.policies ?? []
  }

  add(attributes: readonly string[], policies: readonly number[]): number {
    this.#isChanged = true
    this.members.push([])
    return this.classes.push({ attributes, policies, count: 0 }) - 1
  }

  select(place: number, policies: readonly number[]): void {
    if (areSame(policies, this.policiesOf(place))) return
    this.#isChanged = true
    this.classes[place] = { attributes: this.attributesOf(place), policies, count: this.classes[place]?.count ?? 0 }
  }

  move(id: string, from: number | undefined, to: number | undefined): void {
    this.#isChanged = true
    if (from !== undefined) {
      const left = this.#ownMembers(from)
      left.splice(left.indexOf(id), 1)
    }
    if (to !== undefined) this.#ownMembers(to).push(id)
  }

  state(before: Classified): Classified {
    if (!this.#isChanged) return before
    for (const [place, { length: count }] of this.#own) {
      this.classes[place] = { attributes: this.attributesOf(place), policies: this.policiesOf(place), count }
    }
    return { classes: this.classes, members: this.members, placeOf: before.placeOf }
  }

  #ownMembers(place: number): string[] {
    const own = this.#own.get(place) ?? [...(this.members[place] ?? [])]
    this.#own.set(place, own)
    this.members[place] = own
    return own
  }
}
