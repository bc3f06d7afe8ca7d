/**
 * Calls a function of the host. What it throws, or rejects with when it is an async one, goes to `onFailure` alone: nobody else
 * looks at what a listener answers, and a rejection that nobody looks at ends the process.
 */
export function callIsolated(call: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const answer = call()
    if (isThenable(answer)) Promise.resolve(answer).catch(onFailure)
  } catch (error) {
    onFailure(error)
  }
}

/**
 * Runs every one of `works`, one after the other, whether or not one before it failed. Rejects with the first failure once all
 * are done; `onFurther` hears of each other one.
 */
export async function runEach(
  works: Iterable<() => void | Promise<void>>,
  onFurther: (error: unknown) => void,
): Promise<void> {
  const failures: unknown[] = []
  for (const work of works) {
    try {
      await work()
    } catch (error) {
      if (failures.push(error) > 1) onFurther(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
