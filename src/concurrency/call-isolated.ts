/**
 * Calls a function of the host. Its exception, or the rejection of its promise, goes to `onFailure` alone. Callers ignore the answer of a
 * listener, and an unhandled rejection would end the process.
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
 * Runs all `works` in order, also after a failure. Rejects with the first failure once all are done; each further failure goes to
 * `onFurther`.
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
