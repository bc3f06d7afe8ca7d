/** The first place where a value does not fulfil its schema. */
export interface SchemaViolation {
  /** Members and positions from the root down to the place; empty for the root itself. */
  readonly path: readonly string[]
  /** What the schema asks for there, in words. */
  readonly requirement: string
  /** The value at that place. */
  readonly value: unknown
}

/**
 * Judges values by JSON schemas (draft 7). Schemas come from strangers: nothing is ever fetched, patterns match in linear
 * time, and a schema or value that would take long to work through is refused.
 */
export interface JsonSchema {
  /** Why a schema cannot be used; `undefined` for one that can. */
  problemOf(schema: Readonly<Record<string, unknown>>): Promise<string | undefined>
  /** Where a value violates a schema without problem; `undefined` when it fulfils it. */
  violationOf(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<SchemaViolation | undefined>
}
