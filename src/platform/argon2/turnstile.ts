/** Lets at most `width` of the works given to it run at once; the others wait in the order in which they came. */
export function createTurnstile(width: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running < width) running += 1
    else await new Promise<void>((enter) => waiting.push(enter))
    try {
      return await work()
    } finally {
      // A finished work hands its place straight to the next, so that a newcomer cannot overtake the queue.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
