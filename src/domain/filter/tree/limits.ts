import { FilterError } from './filter-error.ts'

const MAX_CHARACTERS = 4096
const MAX_NESTING = 64
const MAX_TERMS = 256

/** Counts what a filter text spends. Error: `limit` when it spends more than 64 levels or 256 terms. */
export interface Limits {
  /** One more condition. */
  term(): void
  /** Reads one level deeper. */
  nested<T>(read: () => T): T
}

/** The text itself, when it has at most 4,096 characters. Error: `limit`. */
export function checkLength(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text
  throw new FilterError('limit', `a filter may have at most ${MAX_CHARACTERS} characters`)
}

/** The limits of one filter text, of which nothing is spent yet. */
export function beginLimits(): Limits {
  let terms = 0
  let depth = 0
  return {
    term() {
      terms += 1
      if (terms > MAX_TERMS) throw new FilterError('limit', `a filter may have at most ${MAX_TERMS} terms`)
    },
    nested(read) {
      depth += 1
      if (depth > MAX_NESTING)
        throw new FilterError('limit', `a filter may be nested at most ${MAX_NESTING} levels deep`)
      const result = read()
      depth -= 1
      return result
    },
  }
}
