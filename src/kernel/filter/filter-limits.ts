import { FilterError } from './ast.ts'

const MAX_CHARACTERS = 4096
const MAX_NESTING = 64
const MAX_TERMS = 256
const MAX_LINKS = 16

/** Counts what a filter text spends. Error: `limit` when it spends more than 64 levels, 256 terms or 16 links. */
export interface Limits {
  /** One more condition. */
  term(): void
  /** One more look into other entities. */
  link(): void
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
  let links = 0
  return {
    term() {
      terms += 1
      if (terms > MAX_TERMS) throw new FilterError('limit', `a filter may have at most ${MAX_TERMS} terms`)
    },
    link() {
      links += 1
      if (links > MAX_LINKS)
        throw new FilterError('limit', `a filter may look into other entities at most ${MAX_LINKS} times`)
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
