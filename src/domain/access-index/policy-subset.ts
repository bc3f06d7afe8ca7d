import type { SlotSet } from './slot-set.ts'

/** What a subset asks the side of the policies that it is part of. */
interface Side {
  /** The `#` entries that the entity's role attributes answer to. */
  rolesOf(entity: number): readonly string[]
  idOf(entity: number): string | undefined
  /** The policies that a role entry selects alone. */
  sufficient(role: string): SlotSet | undefined
  /** The policies that a role entry selects together with others. */
  joint(role: string): SlotSet | undefined
  ownsMember(policy: number, entity: number): boolean
}

const OPEN = 0
const REFUSED = 1
const SELECTED = 2

/**
 * Some policies of one side in an order of their own, to be asked about many entities: which of them name a role entry is
 * found once, and each entity is answered by walking over its own role entries.
 */
export class PolicySubset {
  readonly #policies: readonly (number | undefined)[]
  readonly #side: Side
  readonly #marks: Uint8Array
  readonly #sufficient = new Map<string, readonly number[]>()
  readonly #joint = new Map<string, readonly number[]>()
  readonly #answers = new Map<string, readonly number[]>()

  constructor(policies: readonly (number | undefined)[], side: Side) {
    this.#policies = policies
    this.#side = side
    this.#marks = new Uint8Array(policies.length)
  }

  /**
   * The positions, ascending, of the policies that select the entity. Entities that nobody names by id and that hold the
   * same attributes get the same list.
   */
  selecting(entity: number): readonly number[] {
    const named = `@${this.#side.idOf(entity)}`
    const roles = this.#side.rolesOf(entity)
    if (this.#side.sufficient(named) !== undefined) return this.#select(entity, [named, ...roles])
    const key = roles.join(' ')
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const answer = this.#select(entity, roles)
    this.#answers.set(key, answer)
    return answer
  }

  #select(entity: number, roles: readonly string[]): readonly number[] {
    const marks = this.#marks.fill(OPEN)
    this.#markAll('#all')
    for (const role of roles) this.#markAll(role)
    for (const role of roles) this.#judgeJoint(role, entity)
    const selected: number[] = []
    for (let position = 0; position < marks.length; position += 1) {
      if (marks[position] === SELECTED) selected.push(position)
    }
    return selected
  }

  #markAll(role: string): void {
    for (const position of this.#positions(this.#sufficient, role, this.#side.sufficient(role))) {
      this.#marks[position] = SELECTED
    }
  }

  #judgeJoint(role: string, entity: number): void {
    for (const position of this.#positions(this.#joint, role, this.#side.joint(role))) {
      const policy = this.#policies[position]
      if (policy === undefined || this.#marks[position] !== OPEN) continue
      this.#marks[position] = this.#side.ownsMember(policy, entity) ? SELECTED : REFUSED
    }
  }

  #positions(known: Map<string, readonly number[]>, role: string, naming: SlotSet | undefined): readonly number[] {
    if (naming === undefined) return []
    let positions = known.get(role)
    if (positions === undefined) {
      positions = this.#policies.flatMap((policy, at) => (policy !== undefined && naming.has(policy) ? [at] : []))
      known.set(role, positions)
    }
    return positions
  }
}
