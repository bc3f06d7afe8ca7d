import { numberText } from './number-text.ts'

/** How many others there are, below a list that shows the first ones; nothing where it shows all. */
export function AndMore({ all, shown }: { all: number; shown: number }) {
  return all > shown ? <p class="muted">and {numberText(all - shown)} more</p> : null
}
