import type { Assertion } from '../assertions/assertion.ts'
import type { ModelKey } from '../entities/kinds.ts'
import type { Body } from '../entities/links.ts'
import type { Path, Place } from '../problems/problem.ts'

/** One entity that a model holds. */
export interface ModelEntity {
  readonly key: ModelKey
  readonly name: string
  /** As the file has it: the body of a request to create it, with names where the API takes ids. */
  readonly body: Body
  /** Where a part of it stands. */
  place(path?: Path): Place
}

/** One thing that must hold in the network of a model. */
export interface ModelAssertion {
  readonly assertion: Assertion
  place(path?: Path): Place
}

/** A network as its files describe it: valid by the declarations of the API, without two entities of one kind and name. */
export interface Model {
  readonly entities: readonly ModelEntity[]
  readonly assertions: readonly ModelAssertion[]
}
