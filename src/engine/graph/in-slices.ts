import type { Turns } from '../../ports/turns.ts'

/** Does work that yields between its small pieces, and lets others have the thread whenever it took a few milliseconds. */
export async function inSlices<T>(turns: Turns, work: Generator<void, T>): Promise<T> {
  const turn = turns.begin()
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await turn()
  }
}
