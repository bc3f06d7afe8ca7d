/** What is wrong with a filter or sort text. */
export type FilterProblem = 'syntax' | 'unknown-symbol' | 'type' | 'limit' | 'sort'

/**
 * A filter or sort text that cannot be used; the message is for the caller.
 *
 * @example
 * try { parseQuery('name ~ 1', symbols) } catch (error) { if (error instanceof FilterError) console.log(error.kind) }
 */
export class FilterError extends Error {
  readonly kind: FilterProblem

  constructor(kind: FilterProblem, message: string) {
    super(message)
    this.name = 'FilterError'
    this.kind = kind
  }
}
