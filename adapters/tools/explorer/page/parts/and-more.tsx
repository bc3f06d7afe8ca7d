import { numberText } from './number-text.ts'

/** The number of further entries, below a list that shows the first entries; nothing when the list is complete. */
export function AndMore({ all, shown }: { all: number; shown: number }) {
  return all > shown ? <p class="muted">and {numberText(all - shown)} more</p> : null
}
